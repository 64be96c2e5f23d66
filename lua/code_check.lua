#!lua
-- Purpose: checks a one-time login code; a right one is used up, and so is any after too many wrong tries.
-- KEYS: 1 code (hash)
-- ARGV: 1 hash of the code · 2 tries allowed
-- Returns: 0 wrong, used up or never sent · 1 right
local kept = redis.call('HGET', KEYS[1], 'code')
if not kept then return 0 end
if kept == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
if redis.call('HINCRBY', KEYS[1], 'tries', 1) >= tonumber(ARGV[2]) then
  -- The hash stays, without a code, so that the pause before the next code still holds.
  redis.call('HDEL', KEYS[1], 'code')
end
return 0
