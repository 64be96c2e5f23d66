#!lua
-- Purpose: changes a sale's stock in two steps around the ledger's commit, so that a crash between them is mended:
-- `begin` notes the change and takes units that leave; `commit` adds units that come; `abort` returns what was taken.
-- KEYS: 1 stock · 2 sale
-- ARGV: 1 step (begin, commit, abort) · 2 epoch · 3 change id · 4 delta in units
-- Returns: 1 done · 0 nothing to do: this step was made already · 2 fewer units left than asked for · 5 not loaded
local step, epoch, field, delta = ARGV[1], ARGV[2], 'change:' .. ARGV[3], tonumber(ARGV[4])
local stock = tonumber(redis.call('GET', KEYS[1]) or nil)
if redis.call('HGET', KEYS[2], 'epoch') ~= epoch or not stock then
  return 5
end
local noted = redis.call('HEXISTS', KEYS[2], field) == 1
if step == 'begin' then
  if noted then return 0 end
  if delta < 0 and stock < -delta then return 2 end
  redis.call('HSET', KEYS[2], field, ARGV[4])
  redis.call('HINCRBY', KEYS[2], 'moves', 1)
  if delta < 0 then redis.call('INCRBY', KEYS[1], delta) end
  return 1
end
if not noted then return 0 end
redis.call('HDEL', KEYS[2], field)
redis.call('HINCRBY', KEYS[2], 'moves', 1)
if step == 'commit' then
  redis.call('HINCRBY', KEYS[2], 'initial', delta)
  if delta > 0 then redis.call('INCRBY', KEYS[1], delta) end
elseif delta < 0 then
  redis.call('INCRBY', KEYS[1], -delta)
end
return 1
