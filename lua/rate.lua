#!lua
-- Purpose: one bucket of tokens that all processes share, for one person and one kind of call (GCRA).
-- KEYS: 1 bucket (string: the moment, in µs, at which it is full again)
-- ARGV: 1 µs until a token comes back · 2 tokens in a full bucket · 3 attempts to pay for, the one that asks included
-- Returns: 0 passes · n > 0: refused, a token is there in n ms
-- The attempts before the one that asks have passed already, so they are paid for even if this one is refused.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step, most, cost = tonumber(ARGV[1]), tonumber(ARGV[1]) * tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local paid = math.min(full + (cost - 1) * step, now + most)
local refused = paid + step > now + most
if not refused then paid = paid + step end
if paid > now then
  redis.call('SET', KEYS[1], string.format('%.0f', paid), 'PX', math.ceil((paid - now) / 1000))
end
if refused then return math.max(1, math.ceil((paid + step - now - most) / 1000)) end
return 0
