#!lua
-- Purpose: takes a lock if it is free, with a fencing number that only ever grows.
-- KEYS: 1 lock (string: the holder's token) · 2 fence (counter)
-- ARGV: 1 token · 2 life (ms) · 3 a number that the fence has passed already: Redis may have lost its counter
-- Returns: {1, fencing number} taken · {0, ms until the holder's time ends} held by somebody
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {0, redis.call('PTTL', KEYS[1])}
end
local fence = redis.call('INCR', KEYS[2])
if fence <= tonumber(ARGV[3]) then
  fence = tonumber(ARGV[3]) + 1
  redis.call('SET', KEYS[2], fence)
end
return {1, fence}
