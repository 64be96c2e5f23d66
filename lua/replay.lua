#!lua
-- Purpose: queues a dead letter's order again. Settling the same id twice changes nothing.
-- KEYS: 1 dead stream · 2 stream of orders · 3 held orders (hash)
-- ARGV: 1 the letter's entry id
-- Returns: 1 queued, the letter is gone · 0 there is no such letter · 2 the letter holds no order
local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])
if not found[1] then return 0 end
local letter = {}
for i = 1, #found[1][2], 2 do letter[found[1][2][i]] = found[1][2][i + 1] end
if not letter.userId or letter.userId == '' then return 2 end
redis.call('XADD', KEYS[2], '*', 'userId', letter.userId, 'id', letter.id, 'voucherId', letter.voucherId)
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[3], letter.id)
return 1
