# tag::digest
printf %s 'order:4711' | sha256sum | cut -c1-12
# end::digest

# tag::names
redis-cli --scan --pattern 'lock:*' | while IFS= read -r key; do
  printf '%s %s\n' "$(printf %s "${key#lock:}" | sha256sum | cut -c1-12)" "$key"
done
# end::names

# tag::holder
session=$(redis-cli GET lock:order:4711 | grep -oE '[0-9a-f]{32}' | head -n 1 | cut -c1-8)
redis-cli CLIENT LIST | grep "lock-${session:?not held}"
# end::holder

# tag::release
curl -X DELETE "localhost:8080/actuator/lock?name=order%3A4711&holderId=$holderId"
# end::release

# tag::delete
redis-cli DEL lock:order:4711
# end::delete
