#!lua
-- Purpose: queues an order again whose claim stands but whose entry is gone. Settling the same id twice changes nothing.
-- KEYS: 1 claims · 2 stream · 3 held orders (hash)
-- ARGV: 1 user id · 2 order id · 3 voucher id · 4 epoch
-- Returns: 1 queued · 0 the claim is no longer this order's, the claims are of another epoch, or an operator has it
local held = redis.call('HMGET', KEYS[1], ARGV[1], '0')
if held[1] ~= ARGV[2] or held[2] ~= ARGV[4] or redis.call('HEXISTS', KEYS[3], ARGV[2]) == 1 then
  return 0
end
redis.call('XADD', KEYS[2], '*', 'userId', ARGV[1], 'id', ARGV[2], 'voucherId', ARGV[3], 'epoch', ARGV[4])
return 1
