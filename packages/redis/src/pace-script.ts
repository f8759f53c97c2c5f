// The Lua script of `RedisPacer`: decides when each request of a fleet may start.
//
// Redis runs one call of the script at a time, by its own clock. So two workers never get the same
// slot, and their clocks don't have to agree. The script keeps these values in Redis:
//
//   pace       for each key: when the next slot is, and why; the pushbacks; the last turn
//   epoch      for each bucket of keys: since when the server has lost no data
//   leases     for each key: the slots whose requests are under way, and until when each counts
//   reported   for each key: the slots whose pushback has been reported, for `onceMs`
//
// Leases are not a part of the pace, so that workers with and without them can share it.
//
// The script mirrors core's pace functions (core/src/pace): the same names, the same arithmetic on
// doubles. test/same-slots.test.ts compares both with random sequences of calls. Core has no
// epochs, turns or allowances (fleet/src/slot-allowance.ts), since a local pacer needs none.
//
// Example: three workers call `reserve` for a site with a delay of 1,000 ms. Their allowances add
// up to 30 ms, of which 7 ms are for the timer of a waiting worker.
//
//   worker 1   slot               its request starts; the next slot is 1,023 ms later
//   worker 2   wait of 1,023 ms   its turn is at the next slot
//   worker 3   wait of 2,053 ms   its turn is one step later: 1,000 + 30 ms
import { MAX_SIMULATED_REQUESTS } from '@politely/core/engine'
import { MAX_SLOW_DELAY_MS, MAX_TIMED_RECORDS, MAX_UNDER_WAY_MS, UNDER_WAY_WAIT_MS } from '@politely/core/internal'
import { MAX_TIME_MS } from '@politely/fetcher/internal'
import { FULL_WAIT_MS } from '@politely/fleet'
import { type Script, scriptOf } from './client.ts'

/**
 * KEYS: the pace of one key, the epoch of its bucket, the circuit of the key, its leases and its
 * reported slots. The last three may be missing if no request is about them.
 * ARGV: one or more requests for the key as JSON. With more than one, the script returns a list of
 * the replies. Numbers are doubles: replies have them as text with 17 digits, and cmsgpack stores
 * them exactly.
 *
 * The epoch is the time since which the server has lost no data, as far as the server can know. It
 * continues while the server has the same run and the same replication history, and the key of the
 * epoch exists. A pace whose last visit was in an earlier epoch may lack later visits. It gets a
 * visit at the start of the epoch.
 *
 * Slot numbers are times in microseconds, so they are unique and grow even if the server loses its
 * data.
 */
export const PACE_SCRIPT: Script = scriptOf(`
local DAY, HOUR, MINUTE, MAX_TIMED_RECORDS = 86400000, 3600000, 60000, ${MAX_TIMED_RECORDS}
local MAX_UNDER_WAY, UNDER_WAY_WAIT = ${MAX_UNDER_WAY_MS}, ${UNDER_WAY_WAIT_MS}
local MAX_SLOW_DELAY, MAX_SIMULATED_REQUESTS = ${MAX_SLOW_DELAY_MS}, ${MAX_SIMULATED_REQUESTS}
-- How long a worker waits at the limit of requests under way: from one call to the next, and until
-- others leave the next slot to it.
local FULL_WAIT, LONG_WAIT = ${FULL_WAIT_MS}, 1000
-- The longest expiry that Redis can add to its clock.
local MAX_EXPIRY = ${MAX_TIME_MS}

local time = redis.call('TIME')
local request, limits, now

local function read(json)
  request = cjson.decode(json)
  limits = request.limits
  now = request.now or time[1] * 1000 + time[2] / 1000
end
read(ARGV[1])

local function text(number) return string.format('%.17g', number) end

local function isWithin(hours, at)
  local minute = math.floor(at / MINUTE) % 1440
  if hours.from < hours.to then return minute >= hours.from and minute < hours.to end
  return minute >= hours.from or minute < hours.to
end

local function nextMinute(minute, at)
  local today = math.floor(at / DAY) * DAY + (minute % 1440) * MINUTE
  return today > at and today or today + DAY
end

local function nextVisitTimeAt(visitTimes, at)
  if #visitTimes == 0 then return at end
  local opens = math.huge
  for _, hours in ipairs(visitTimes) do
    if isWithin(hours, at) then return at end
    opens = math.min(opens, nextMinute(hours.from, at))
  end
  return opens
end

local function boundDelay(siteMs, because)
  local own, max = limits.ownDelayMs, limits.maxDelayMs
  if siteMs <= own then return { ms = own, because = 'own-delay' } end
  if not max or siteMs <= max then return { ms = siteMs, because = because } end
  return { ms = math.max(max, own), because = 'cap' }
end

local function applyRates(base, startsAt)
  local delay, longer = base, {}
  for _, rate in ipairs(limits.requestRates) do
    local rateDelay = boundDelay(rate.periodMs / rate.requests, 'request-rate')
    if not rate.between then
      if rateDelay.ms > delay.ms then delay = rateDelay end
    elseif #longer < MAX_TIMED_RECORDS then
      longer[#longer + 1] = { hours = rate.between, delay = rateDelay }
    end
  end
  local at = startsAt + delay.ms
  local dayEnds = at + DAY
  while true do
    local still = {}
    for _, timed in ipairs(longer) do
      if startsAt + timed.delay.ms > at then still[#still + 1] = timed end
    end
    if #still < #longer then dayEnds = at + DAY end
    longer = still
    local nextAt, because = -math.huge, nil
    for _, timed in ipairs(longer) do
      if isWithin(timed.hours, at) then
        local ends = math.min(startsAt + timed.delay.ms, nextMinute(timed.hours.to, at))
        if ends > nextAt then nextAt, because = ends, timed.delay.because end
      end
    end
    if not because then return delay end
    if nextAt > dayEnds then
      local shortest = longer[1].delay
      for _, timed in ipairs(longer) do
        if timed.delay.ms < shortest.ms then shortest = timed.delay end
      end
      nextAt = math.max(nextAt, startsAt + shortest.ms)
      because = shortest.because
    end
    delay = { ms = nextAt - startsAt, because = because }
    at = nextAt
  end
end

local function delayOf(from, tookMs)
  local delay = boundDelay(limits.crawlDelayMs or 0, 'crawl-delay')
  if limits.requestRates and #limits.requestRates > 0 then delay = applyRates(delay, from) end
  local slowMs = math.min((limits.delayFactor or 0) * tookMs, limits.maxDelayMs or MAX_SLOW_DELAY)
  return slowMs > delay.ms and { ms = slowMs, because = 'slow-site' } or delay
end

-- The saved form: its version, then these fields. The last three are present only while a request
-- is under way whose end delays the next request.
local FORMAT = 2
local FIELDS = { 'nextSlotAt', 'because', 'slots', 'pushbacks', 'slotsAtPushback', 'maxBackoffMs', 'lastingUntil', 'lastingBecause', 'epoch',
  'lastTurnAt', 'underWayUntil', 'underWayMs', 'underWayBecause' }
local ALWAYS_PRESENT = 10

-- Returns whether every field has the type that the script saves. If a number is not finite,
-- subtracting it from itself does not give 0.
local function isPace(saved)
  if type(saved) ~= 'table' or saved[1] ~= FORMAT then return false end
  for i = 1, saved[ALWAYS_PRESENT + 2] == nil and ALWAYS_PRESENT or #FIELDS do
    local value, isReason = saved[i + 1], string.find(FIELDS[i], '[bB]ecause$')
    if type(value) ~= (isReason and 'string' or 'number') then return false end
    if not isReason and value - value ~= 0 then return false end
  end
  return true
end

-- The pace of a key that has none. Its slot numbers are larger than all earlier ones.
local pace = { nextSlotAt = 0, because = 'own-delay', slots = math.floor(now * 1000), pushbacks = 0, slotsAtPushback = 0,
  maxBackoffMs = 0, lastingUntil = 0, lastingBecause = 'backoff', epoch = -1, lastTurnAt = 0 }
local packed = redis.pcall('GET', KEYS[1])
local isRead, saved = pcall(cmsgpack.unpack, packed)
isRead = isRead and isPace(saved)
if isRead then
  for i, name in ipairs(FIELDS) do pace[name] = saved[i + 1] end
end

local function canForgetAt()
  return math.max(pace.nextSlotAt + (pace.pushbacks > 0 and pace.maxBackoffMs or 0), pace.underWayUntil or 0)
end

-- Saves the pace after the last request.
local isChanged = false
local function save() isChanged = true end

-- It expires a second after core's canForget would be true. With a test clock it
-- expires an hour after, since a test clock may stand still.
local function store()
  local fields = { FORMAT }
  for i, name in ipairs(FIELDS) do fields[i + 1] = pace[name] end
  local keepUntil = math.max(canForgetAt(), pace.lastTurnAt)
  local keepMs = math.min(math.max(math.ceil(keepUntil - now), 0) + (request.now and HOUR or 1000), MAX_EXPIRY)
  redis.call('SET', KEYS[1], cmsgpack.pack(fields), 'PX', string.format('%.0f', keepMs))
end

local function setUnderWay(untilAt, ms, because)
  pace.underWayUntil, pace.underWayMs, pace.underWayBecause = untilAt, ms, because
end

-- Lets a key expire no sooner than so much later than now.
local function keepFor(key, ms)
  local keepMs = math.min(math.ceil(request.now and ms + HOUR or ms), MAX_EXPIRY)
  if redis.call('PTTL', key) < keepMs then redis.call('PEXPIRE', key, string.format('%.0f', keepMs)) end
end

-- The requests under way. Each has a lease, which ends at the time that is the score of its slot.
local function addLease(slot, ms)
  redis.call('ZADD', KEYS[4], text(now + ms), text(slot))
  keepFor(KEYS[4], ms)
end

local function endLease(slot)
  if KEYS[4] then redis.call('ZREM', KEYS[4], text(slot)) end
end

-- Which of the slots that the caller believes to be under way have no lease.
local function endedSlots()
  local ended = {}
  for _, slot in ipairs(request.lease.open) do
    if not redis.call('ZSCORE', KEYS[4], text(slot)) then ended[#ended + 1] = text(slot) end
  end
  return table.concat(ended, ' ')
end

local function nextSlot(at)
  local slot
  local endAt = pace.underWayUntil and at < pace.underWayUntil and at + (pace.underWayMs > 0 and pace.underWayMs or UNDER_WAY_WAIT)
  if endAt and endAt >= pace.nextSlotAt then
    slot = { at = endAt, because = pace.underWayBecause }
  elseif pace.nextSlotAt > at then
    slot = { at = pace.nextSlotAt, because = pace.because }
  else
    slot = { at = at, because = 'none' }
  end
  local opens = nextVisitTimeAt(limits.visitTimes or {}, slot.at)
  return opens > slot.at and { at = opens, because = 'visit-time' } or slot
end

local function takeSlot(at, delay, pauseFrom, allowanceMs)
  local nextAt = at + delay.ms + allowanceMs
  if pace.pushbacks > 0 and at >= canForgetAt() then pace.pushbacks = 0 end
  pace.slots = math.max(pace.slots + 1, math.floor(at * 1000))
  setUnderWay()
  if pauseFrom == 'end' then setUnderWay(at + MAX_UNDER_WAY, delay.ms, delay.because) end
  if nextAt >= pace.nextSlotAt then pace.nextSlotAt, pace.because = nextAt, delay.because end
end

local function addLastingPause(at, because)
  if at > pace.nextSlotAt then pace.nextSlotAt, pace.because = at, because end
  if at > pace.lastingUntil then pace.lastingUntil, pace.lastingBecause = at, because end
end

local function withoutRequest(slot)
  if slot == pace.slots then setUnderWay() end
end

local function returnSlot(slot)
  local free = math.max(pace.lastingUntil, now)
  withoutRequest(slot)
  if slot == pace.slots and pace.nextSlotAt > free then pace.nextSlotAt, pace.because = free, pace.lastingBecause end
end

local info = redis.call('INFO', 'server', 'replication')
local history = assert(string.match(info, 'run_id:(%w+)'), 'INFO has no run_id') .. (string.match(info, 'master_replid:(%w+)') or '')
-- A key of another type makes GET an error. Then the epoch is unknown.
local savedEpoch = redis.pcall('GET', KEYS[2])
local epochStart, epochHistory = string.match(type(savedEpoch) == 'string' and savedEpoch or '', '^(%S+) (%S+)$')
local isEpochLost = epochHistory ~= history
local epoch = now
-- Another program, or another version of this one, has overwritten the pace. That is a loss of
-- data.
local isDamaged = packed and not isRead
if not isEpochLost and not isDamaged then
  epoch = tonumber(epochStart)
else
  if isDamaged then save() end
  redis.call('SET', KEYS[2], text(now) .. ' ' .. history)
end

-- Adds a visit at the start of the epoch, in place of a visit that the server may have lost. It is
-- the worst case: its request started an allowance later, its response was slow, and it may still
-- be under way.
local function addLostVisit()
  if pace.epoch == epoch then return end
  local slots, untilAt, ms, because = pace.slots, pace.underWayUntil, pace.underWayMs, pace.underWayBecause
  takeSlot(epoch, delayOf(epoch, (limits.delayFactor or 0) > 0 and math.huge or 0), limits.pauseFrom, request.maxAllowanceMs)
  pace.slots = slots
  if not pace.underWayUntil then setUnderWay(untilAt, ms, because) end
end

local operations = {}

-- Applies the pauses that the caller knows of, except those that Redis learned of in this epoch.
local function applyKnownPauses()
  for _, pause in ipairs(request.knownPauses) do
    if pause.epoch ~= epoch then
      addLastingPause(now + pause.ms, pause.because)
      save()
    end
  end
end

function operations.pause()
  applyKnownPauses()
end

-- Whether another worker has its turn now or later. Its timer may be late.
local function hasTurnsAhead()
  return pace.lastTurnAt > now - request.timerAllowanceMs
end

-- Workers that wait take turns, so that only one of them calls for each slot. A turn reserves
-- nothing: if its worker dies, one turn passes unused. Returns four times: when the worker calls
-- again, its turn, the turn before it, and the time from one turn to the next.
local function takeTurn(slotAt, delayMs)
  if request.turnAt and slotAt - now <= delayMs / 2 then
    return slotAt, request.turnAt, request.turnBefore, request.turnStepMs
  end
  local turnAt, turnBefore, stepMs = slotAt, pace.lastTurnAt, delayMs + request.allowanceMs + (request.allowedMs or 0) + request.timerAllowanceMs
  if request.turnAt == pace.lastTurnAt then
    turnBefore = request.turnBefore
  elseif hasTurnsAhead() then
    turnAt = math.max(turnAt, pace.lastTurnAt + stepMs)
  end
  pace.lastTurnAt = turnAt
  return turnAt, turnAt, turnBefore, stepMs
end

-- Takes a turn for the next request of the worker that has just taken a slot at this time. The turns
-- of the other workers come first, and may be for an earlier time than their slots.
local function takeNextTurn(at, delayMs)
  local turnBefore, stepMs = pace.lastTurnAt, delayMs + request.allowanceMs + (request.allowedMs or 0) + request.timerAllowanceMs
  local turnOfSlot = math.max(request.turnAt or at, at - stepMs) -- it may have passed unused
  local ahead = math.max(math.floor((turnBefore - turnOfSlot) / stepMs + 0.1), 1)
  local turnAt = math.max(pace.nextSlotAt + ahead * stepMs, turnBefore + stepMs)
  pace.lastTurnAt = turnAt
  return { text(turnAt - now), text(turnAt), text(turnBefore), text(stepMs) }
end

local PAUSES = { ['retry-after'] = true, backoff = true, ['rate-limit'] = true }

-- Whether the worker may wait for this slot with the slot reserved.
local function isSoon(slot)
  local isUnderWay = pace.underWayUntil and now < pace.underWayUntil
  return request.soonMs and slot.at - now <= request.soonMs and slot.at == pace.nextSlotAt and not PAUSES[slot.because]
    and not isUnderWay and (request.turnAt or not hasTurnsAhead())
end

local function waitForTurn(slot, delayMs)
  local before = pace.lastTurnAt
  local at, turnAt, turnBefore, stepMs = takeTurn(slot.at, delayMs)
  if pace.lastTurnAt ~= before then save() end
  return { 'wait', text(epoch), text(at - now), slot.because, text(turnAt), text(turnBefore), text(stepMs) }
end

-- Whether the key is an origin whose circuit has failures.
local function hasFailures()
  local circuit = redis.pcall('GET', KEYS[3])
  return type(circuit) == 'string' and circuit ~= ''
end

function operations.reserve()
  local lease = request.lease
  applyKnownPauses()
  if request.slot then
    returnSlot(request.slot)
    endLease(request.slot)
    save()
  end
  if request.ifClear and hasFailures() then return { 'failures', text(epoch) } end
  local ended
  if lease then
    redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', text(now))
    ended = endedSlots()
  end
  addLostVisit()
  local slot = nextSlot(now)
  local delay = delayOf(now, 0)
  -- A worker without a turn leaves a free slot to the worker that has waited for it.
  if slot.because == 'none' and not request.turnAt and hasTurnsAhead() then slot.because = delay.because end
  local isFree = slot.because == 'none'
  if not isFree and not isSoon(slot) then
    local reply = waitForTurn(slot, delay.ms)
    reply[#reply + 1] = ended
    return reply
  end
  if lease and redis.call('ZCARD', KEYS[4]) >= lease.max then
    local firstEnd = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2]
    -- The other workers leave the next slot to a worker that has waited for long, until it calls
    -- again. Otherwise the worker whose request ends would take it each time.
    local since = request.turnAt or now
    if now - since >= LONG_WAIT then
      pace.lastTurnAt = math.max(pace.lastTurnAt, now + FULL_WAIT)
      save()
    end
    return { 'full', text(epoch), text(firstEnd and firstEnd - now or lease.ms), text(since), ended }
  end
  if request.turnAt == pace.lastTurnAt then pace.lastTurnAt = 0 end
  if not isFree then delay = delayOf(slot.at, 0) end
  -- Another program may send the request this much later.
  local allowedMs = delay.ms > 0 and request.allowedMs or 0
  local timerMs = isFree and 0 or request.timerAllowanceMs
  takeSlot(slot.at, delay, limits.pauseFrom, request.allowanceMs + allowedMs + timerMs)
  -- Until the worker says that the request was sent, it counts as under way.
  if request.unsentMs and limits.pauseFrom ~= 'end' and delay.ms > 0 then
    setUnderWay(slot.at + request.unsentMs, delay.ms, delay.because)
  end
  pace.epoch = epoch
  save()
  if lease then addLease(pace.slots, lease.ms) end
  local reply = { 'slot', text(epoch), text(pace.slots), text(delay.ms), delay.because, pace.pushbacks > 0 and '1' or '0', ended or '', isFree and '' or text(slot.at - now) }
  -- Without another worker that waits, the next request needs no turn.
  if request.takesTurn and delay.ms > 0 and hasTurnsAhead() then
    for _, field in ipairs(takeNextTurn(slot.at, delay.ms)) do reply[#reply + 1] = field end
  end
  return reply
end

-- Gives up a turn. If it is not the last turn, the next worker to arrive also gets the last turn,
-- so that there are no more turns than waiting workers. Of the two workers with one turn, one finds
-- the slot taken, and calls once more.
function operations.cancelWait()
  if request.turnAt == pace.lastTurnAt then
    pace.lastTurnAt = request.turnBefore
  elseif request.turnAt > now then
    pace.lastTurnAt = math.max(pace.lastTurnAt - request.turnStepMs, now)
  else
    return
  end
  save()
end

function operations.cancel()
  returnSlot(request.slot)
  endLease(request.slot)
  save()
end

function operations.sent()
  if request.slot and not request.agoMs then withoutRequest(request.slot) end
  if request.delay then addLastingPause(now - (request.agoMs or 0) + request.delay.delayMs, request.delay.because) end
  -- The rest of the allowance of the last slot is given up.
  if request.agoMs and request.slot == pace.slots then
    pace.nextSlotAt, pace.because = pace.lastingUntil, pace.lastingBecause
  end
  save()
end

-- Whether no worker has reported this slot before.
local function isFirstReport()
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', text(now))
  local isFirst = redis.call('ZADD', KEYS[5], 'NX', text(now + request.onceMs), text(request.slot)) == 1
  keepFor(KEYS[5], request.onceMs)
  return isFirst
end

function operations.report()
  local isOld = pace.pushbacks > 0 and request.slot <= pace.slotsAtPushback
  local pushback = request.pushback
  local requestedMs = pushback and pushback.requestedMs
  if not pushback then
    if isOld or pace.pushbacks == 0 then return end
    pace.pushbacks = 0
  elseif request.onceMs and not isFirstReport() then
    -- The caller learns of the present pause.
  elseif requestedMs or not isOld then
    local backoff = pushback.backoff
    local backoffMs = math.min(backoff.firstMs * backoff.factor ^ pace.pushbacks, backoff.maxMs)
    if not isOld then pace.pushbacks, pace.slotsAtPushback, pace.maxBackoffMs = pace.pushbacks + 1, pace.slots, backoff.maxMs end
    addLastingPause(now + (requestedMs or backoffMs), requestedMs and 'retry-after' or 'backoff')
  end
  save()
  return { 'pause', text(epoch), text(math.max(pace.lastingUntil - now, 0)), pace.lastingBecause }
end

operations['end'] = function()
  local from = limits.pauseFrom == 'end' and now or now - request.tookMs
  withoutRequest(request.slot)
  local delay = delayOf(from, request.tookMs)
  addLastingPause(from + delay.ms, delay.because)
  save()
end

function operations.release()
  endLease(request.slot)
end

function operations.renew()
  local endsAt = redis.call('ZSCORE', KEYS[4], text(request.slot))
  if not endsAt or tonumber(endsAt) <= now then return end
  addLease(request.slot, request.leaseMs)
  return { 'renewed', text(epoch) }
end

-- Changes the pace as the requests ahead would, so it is the only request of its call.
function operations.estimate()
  addLostVisit()
  local slot = nextSlot(now)
  if request.takesTurn and slot.because ~= 'none' then return waitForTurn(slot, delayOf(now, 0).ms) end
  local at, because = slot.at, slot.because
  local simulated = math.min(request.ahead, MAX_SIMULATED_REQUESTS)
  for _ = 1, simulated do
    takeSlot(at, delayOf(at, 0), 'start', 0)
    slot = nextSlot(at)
    at = slot.at
    if slot.because ~= 'none' then because = slot.because end
  end
  local furtherMs = math.max(0, request.ahead - MAX_SIMULATED_REQUESTS) * delayOf(at, 0).ms
  return { 'estimate', text(epoch), text(at + furtherMs - now), because }
end

local replies = {}
for i, json in ipairs(ARGV) do
  read(json)
  replies[i] = operations[request.op]() or { 'done', text(epoch) }
  table.insert(replies[i], 3, isEpochLost and '1' or '0')
end
if isChanged then store() end
return replies[2] and replies or replies[1]
`)
