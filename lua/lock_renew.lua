#!lua
-- Purpose: prolongs a lock that is still the caller's.
-- KEYS: 1 lock
-- ARGV: 1 token · 2 life (ms)
-- Returns: 1 prolonged · 0 it is no longer the caller's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
