#!lua
-- Purpose: brings a loaded sale's state and window to what the ledger says, never back to what it said before.
-- KEYS: 1 sale
-- ARGV: 1 epoch · 2 version · 3 state · 4 begin (ms) · 5 end (ms)
-- Returns: 1 set · 0 not loaded under this epoch: nothing changed · 2 a later version is set already: nothing changed
local held = redis.call('HMGET', KEYS[1], 'epoch', 'begin', 'version')
if held[1] ~= ARGV[1] or not held[2] then
  return 0
end
if tonumber(held[3] or 0) > tonumber(ARGV[2]) then
  return 2
end
redis.call('HSET', KEYS[1], 'state', ARGV[3], 'begin', ARGV[4], 'end', ARGV[5], 'version', ARGV[2])
return 1
