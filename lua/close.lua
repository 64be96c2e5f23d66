#!lua
-- Purpose: shuts a sale in Redis before it is rebuilt: grabs answer "not loaded" until load.lua opens it again. The
-- epoch stays, so that a rebuild that was overtaken can't load.
-- KEYS: 1 sale · 2 stream
-- ARGV: 1 the epoch to shut; a later one is left alone
-- Returns: {1, last entry id of the stream} shut, or was not loaded · {0, ''} a later epoch is there
local held = redis.call('HGET', KEYS[1], 'epoch')
if held and tonumber(held) > tonumber(ARGV[1]) then
  return {0, ''}
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
return {1, last[1] and last[1][1] or '0-0'}
