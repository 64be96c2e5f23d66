#!lua
-- Purpose: decides a batch of grabs for one sale, in order, and queues the winners. The whole sale is decided here.
-- KEYS: 1 stock (string) · 2 claims (hash user -> order id) · 3 sale (hash) · 4 stream
-- ARGV: 1 voucher id · 2 the epoch that the caller knows · then user id, order id for each attempt
-- Returns one element an attempt:
--   0 queued · 1 out of stock · {2, order id} already ordered · 3 not started · 4 ended
--   5 not loaded (a key is missing, or another epoch: never "sold out") · 6 paused
-- Field '0' of the claims carries their epoch (no user has the id 0), so that lost claims are noticed.
-- The clock is Redis TIME. Nothing is written before every attempt is decided; a refused attempt changes nothing.
-- Writes go stock, claims, entries: should one fail half-way, units are missing and never sold twice.
local voucher, epoch = ARGV[1], ARGV[2]
local attempts = (#ARGV - 2) / 2
local replies = {}

local sale = redis.call('HMGET', KEYS[3], 'begin', 'end', 'state', 'epoch')
local stock = tonumber(redis.call('GET', KEYS[1]) or nil)
local users = {}
for i = 1, attempts do users[i] = ARGV[1 + 2 * i] end
local held = redis.call('HMGET', KEYS[2], '0', unpack(users))
if sale[4] ~= epoch or held[1] ~= epoch or not stock or not sale[1] or not sale[2] then
  for i = 1, attempts do replies[i] = 5 end
  return replies
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local closed
if sale[3] == 'ended' or now >= tonumber(sale[2]) then closed = 4
elseif sale[3] == 'paused' then closed = 6
elseif now < tonumber(sale[1]) then closed = 3 end

local claims, entries, mine = {}, {}, {}
for i = 1, attempts do
  local user, id = users[i], ARGV[2 + 2 * i]
  local first = held[i + 1] or mine[user]
  if first then
    replies[i] = {2, first}
  elseif closed then
    replies[i] = closed
  elseif #entries >= stock then
    replies[i] = 1
  else
    replies[i] = 0
    mine[user] = id
    claims[#claims + 1] = user
    claims[#claims + 1] = id
    entries[#entries + 1] = {user, id}
  end
end

if #entries > 0 then
  redis.call('DECRBY', KEYS[1], #entries)
  redis.call('HINCRBY', KEYS[3], 'moves', 1)
  redis.call('HSET', KEYS[2], unpack(claims))
  for _, entry in ipairs(entries) do
    redis.call('XADD', KEYS[4], '*', 'userId', entry[1], 'id', entry[2], 'voucherId', voucher, 'epoch', epoch)
  end
end
return replies
