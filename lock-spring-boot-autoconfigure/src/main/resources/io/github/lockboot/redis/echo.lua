-- Publishes an empty message, by which a session checks whether messages on its channel arrive.
--
-- KEYS[1]  not used
-- ARGV[1]  the channel
--
-- PUBLISHED
redis.call('PUBLISH', ARGV[1], '')
return 'PUBLISHED'
