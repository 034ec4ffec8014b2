-- Publishes a message: an empty one, by which a session checks whether messages on its channel arrive, or an announcement.
--
-- KEYS[1]  not used, but Redis may allow a script on a key to publish on channels of the same slot only
-- ARGV[1]  the channel
-- ARGV[2]  the settings, not used
-- ARGV[3]  the message
--
-- PUBLISHED | UNPUBLISHED the words of Redis
local published = redis.pcall('PUBLISH', ARGV[1], ARGV[3])
return type(published) == 'table' and 'UNPUBLISHED ' .. published.err or 'PUBLISHED'
