#!lua
-- Purpose: keeps a one-time login code, unless one was sent moments ago and not used.
-- KEYS: 1 code (hash)
-- ARGV: 1 hash of the code · 2 life of the code (ms) · 3 pause before another may be sent (ms)
-- Returns: 0 kept · n > 0: not kept, another may be sent in n ms
local left = redis.call('PTTL', KEYS[1])
local wait = left - (ARGV[2] - ARGV[3])
if left > 0 and wait > 0 then
  return wait
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'code', ARGV[1], 'tries', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 0
