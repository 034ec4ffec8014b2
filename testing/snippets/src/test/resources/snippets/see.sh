curl -s 'localhost:8080/actuator/locks'
curl -s 'localhost:8080/actuator/lock?name=order:4711'
