#!lua
-- Purpose: removes consumers that have been away for long and hold nothing. Look and removal are one step: a consumer
-- that is removed with entries pending takes them along.
-- KEYS: 1 stream
-- ARGV: 1 group · 2 idle time from which a consumer counts as gone (ms) · 3 the caller's own name
-- Returns: how many were removed
local removed = 0
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #info, 2 do consumer[info[i]] = info[i + 1] end
  if consumer.pending == 0 and consumer.idle > tonumber(ARGV[2]) and consumer.name ~= ARGV[3] then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    removed = removed + 1
  end
end
return removed
