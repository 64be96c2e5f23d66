#!lua
-- Purpose: loads a sale into Redis, whole: a new one, or one rebuilt from the ledger under a higher epoch.
-- KEYS: 1 stock · 2 claims · 3 sale · 4 staged claims, written beforehand
-- ARGV: 1 epoch · 2 begin (ms) · 3 end (ms) · 4 state · 5 initial units · 6 units left · 7 version
--       · 8 this Redis' run id: another one later means a restart, and perhaps a loss
--       · 9 'staged' where KEYS[4] holds the claims, '' where nobody holds one
-- Returns: 1 loaded · 0 left as it was: this epoch or a later one was loaded or shut already
local held = redis.call('HGET', KEYS[3], 'epoch')
if held and tonumber(held) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('SET', KEYS[1], ARGV[6])
if ARGV[9] == 'staged' then
  redis.call('RENAME', KEYS[4], KEYS[2])
  redis.call('PERSIST', KEYS[2])
end
redis.call('HSET', KEYS[2], '0', ARGV[1])
redis.call('HSET', KEYS[3], 'begin', ARGV[2], 'end', ARGV[3], 'state', ARGV[4], 'initial', ARGV[5],
  'epoch', ARGV[1], 'version', ARGV[7], 'run', ARGV[8])
return 1
