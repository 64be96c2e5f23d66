#!lua
-- Purpose: brings a loaded sale's state and window to what the ledger says.
-- KEYS: 1 sale
-- ARGV: 1 epoch · 2 state · 3 begin (ms) · 4 end (ms)
-- Returns: 1 set · 0 not loaded under this epoch: nothing changed
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'begin', ARGV[3], 'end', ARGV[4])
return 1
