-- Publishes an empty message, by which a session checks whether messages on its channel arrive.
--
-- KEYS[1]  not used, but Redis may allow a script on a key to publish on channels of the same slot only
-- ARGV[1]  the channel
--
-- PUBLISHED | UNPUBLISHED the words of Redis
local published = redis.pcall('PUBLISH', ARGV[1], '')
return type(published) == 'table' and 'UNPUBLISHED ' .. published.err or 'PUBLISHED'
