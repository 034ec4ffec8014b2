return answer('NOT_OWNER')
