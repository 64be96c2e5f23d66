#!lua
-- Purpose: frees a lock that is still the caller's (compare and delete: never another holder's).
-- KEYS: 1 lock
-- ARGV: 1 token
-- Returns: 1 freed · 0 it was no longer the caller's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
