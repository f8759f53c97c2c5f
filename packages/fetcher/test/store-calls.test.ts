// When a store that does not respond is called again, on a fake clock.
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withTimeout } from '../src/base/timeout.ts'
import type { StoreFailure, Telemetry } from '../src/report/telemetry.ts'
import { LEASING_STORE_TIMEOUT_MS, STORE_TIMEOUT_MS, StoreCalls } from '../src/store/store-calls.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const telemetryOf = (failures: StoreFailure[]) =>
  ({
    storeFailed: (failure: StoreFailure) => failures.push(failure),
    storeWorks: () => undefined,
  }) as unknown as Telemetry

/** A store that does not respond while `isHung`. */
function openStore(hasLeases = false) {
  const failures: StoreFailure[] = []
  const telemetry = telemetryOf(failures)
  const calls = new StoreCalls(telemetry, new AbortController().signal, hasLeases)
  const store = { isHung: false, called: 0 }
  const get = () =>
    calls.call('get', 'https://example.com', () => {
      store.called++
      return store.isHung ? new Promise<string>(() => undefined) : Promise.resolve('text')
    })
  return { calls, store, get, failures }
}

test('after a call that took too long, the store is called again after 1 s, 2 s, 4 s, and then every 30 s', async () => {
  const { store, get, failures } = openStore()
  store.isHung = true
  const callTimes = [0]
  void get()
  await vi.advanceTimersByTimeAsync(STORE_TIMEOUT_MS)
  for (let ms = STORE_TIMEOUT_MS; callTimes.length < 8; ms += 500) {
    const { called } = store
    void get()
    if (store.called > called) callTimes.push(ms)
    await vi.advanceTimersByTimeAsync(500)
  }
  const pauses = callTimes.slice(1).map((ms, i) => ms - (callTimes[i] as number) - STORE_TIMEOUT_MS)
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(failures).toHaveLength(7)
  expect(String(failures[0]?.error)).toContain('it is called again in 1000 ms')
})

test('a failure after a second or more is followed by a pause, and an earlier one is not', async () => {
  const { calls } = openStore()
  let called = 0
  const failAfter = async (ms: number) => {
    const failed = calls.call('get', 'https://example.com', () => {
      called++
      return new Promise<string>((_, reject) => setTimeout(reject, ms, new Error('connection timeout')))
    })
    await vi.advanceTimersByTimeAsync(ms)
    await failed
  }
  for (const ms of [900, 1_500, 900]) await failAfter(ms)
  expect(called).toBe(2)
  await vi.advanceTimersByTimeAsync(1_000)
  await failAfter(900)
  expect(called).toBe(3)
})

test('calls that hang at the same time cause one pause, and one call ends it', async () => {
  const { store, get, failures } = openStore()
  store.isHung = true
  const pending = Array.from({ length: 100 }, get)
  await vi.advanceTimersByTimeAsync(STORE_TIMEOUT_MS)
  await Promise.all(pending)
  expect(failures).toHaveLength(100)
  await vi.advanceTimersByTimeAsync(1_000)
  store.isHung = false
  const later = await Promise.all(Array.from({ length: 100 }, get))
  expect(later.filter((text) => text === 'text')).toHaveLength(1)
  expect(await Promise.all(Array.from({ length: 100 }, get))).toEqual(Array.from({ length: 100 }, () => 'text'))
  expect(store.called).toBe(201)
})

test('a store with leases may take five times as long, so that its clients do not all fetch', async () => {
  const { calls, failures } = openStore(true)
  const reply = (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve(`after ${ms}`), ms))
  const times = [LEASING_STORE_TIMEOUT_MS - 1, LEASING_STORE_TIMEOUT_MS + 1]
  const replies = times.map((ms) => calls.call('lease', 'https://example.com', () => reply(ms)))
  await vi.advanceTimersByTimeAsync(LEASING_STORE_TIMEOUT_MS)
  expect(await Promise.all(replies)).toEqual([`after ${times[0]}`, undefined])
  expect(String(failures[0]?.error)).toContain('within 10000 ms')
})

test('a call that fails at once causes no pause', async () => {
  const { get, failures } = openStore()
  const telemetry = telemetryOf(failures)
  const calls = new StoreCalls(telemetry, new AbortController().signal)
  expect(await calls.call('set', 'https://example.com', () => Promise.reject(new Error('full')))).toBeUndefined()
  expect(await calls.call('get', 'https://example.com', async () => 'text')).toBe('text')
  expect(await get()).toBe('text')
})

test('a reply that arrives while the event loop is blocked is not too late', async () => {
  vi.useRealTimers()
  const { port1, port2 } = new MessageChannel()
  const reply = once(port1, 'message').then(() => 'in time')
  const result = withTimeout(reply, 20, () => 'too late')
  port2.postMessage('reply')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  expect(await result).toBe('in time')
  port1.close()
})

test('an outage lasts until the operation that failed succeeds: a full store still reads', async () => {
  const told: unknown[] = []
  const telemetry = {
    storeFailed: (_: StoreFailure, isFirst: boolean) => told.push(isFirst),
    storeWorks: (forMs: number, failures: number) => told.push([forMs, failures]),
  } as unknown as Telemetry
  const calls = new StoreCalls(telemetry, new AbortController().signal)
  const read = () => calls.call('get', 'https://example.com', async () => 'text')
  const write = (isFull: boolean) =>
    calls.call('set', 'https://example.com', async () => {
      if (isFull) throw new Error('full')
    })
  await write(true)
  await vi.advanceTimersByTimeAsync(20_000)
  await read()
  await write(true)
  expect([calls.outageMs, told]).toEqual([20_000, [true, false]])
  await vi.advanceTimersByTimeAsync(10_000)
  await write(false)
  expect([calls.outageMs, told.slice(2)]).toEqual([0, [[30_000, 2]]])
  await write(true)
  await vi.advanceTimersByTimeAsync(60_000) // the client has nothing to write
  await read()
  expect([calls.outageMs, told.slice(3)]).toEqual([0, [true, [60_000, 1]]])
})
