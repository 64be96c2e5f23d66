#!lua
-- Purpose: gives the unit of an order back that could not be settled, exactly once, keyed by the order id.
-- KEYS: 1 stock · 2 claims · 3 sale
-- ARGV: 1 user id · 2 the failed order's id · 3 the id of the live order that the user holds instead, or ''
-- Returns: 1 given back · 0 nothing to do: the claim is not (or no longer) this order's
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then
  return 0
end
-- A sale that is not loaded gets its units from the ledger when it is rebuilt.
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('INCRBY', KEYS[1], 1)
  redis.call('HINCRBY', KEYS[3], 'moves', 1)
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
end
return 1
