// How PostgresPacer makes its calls, and what it does when they fail. The client is fake, since
// PGlite has one session and does not fail.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CircuitLimits, PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { PostgresPacer, type PostgresPacerMessages, PostgresStore } from '../src/index.ts'
import { DELAY_MS, type FakeRequest, fakeClient, openPacer, replyTo, slotReply, stateError } from './fake-client.ts'

const limits: PaceLimits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
const circuitLimits: CircuitLimits = { failures: 3, coolMs: 60_000, maxMs: 200_000, factor: 2 }

/** The calls that were made until now become statements. */
async function callsAreSent(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

/** The keys of each statement. */
const keysOf = (statements: readonly { readonly requests: readonly FakeRequest[] }[]) =>
  statements.map(({ requests }) => requests.map(({ key }) => key).join(''))

function listen<N extends keyof PostgresPacerMessages>(name: N): PostgresPacerMessages[N][] {
  const messages: PostgresPacerMessages[N][] = []
  const onMessage = (message: unknown) => void messages.push(message as PostgresPacerMessages[N])
  subscribe(name, onMessage)
  onTestFinished(() => void unsubscribe(name, onMessage))
  return messages
}

describe('the calls', () => {
  test('of one turn of the event loop are one statement', async () => {
    const { client, statements } = fakeClient()
    const pacer = openPacer({ client, now: () => 5 })
    const replies = await Promise.all([
      ...['a', 'b', 'c'].map((key) => pacer.reserve(key, limits)),
      pacer.estimate('d', limits, 0),
      pacer.admit('https://a.test', circuitLimits),
    ])
    expect(replies.map((reply) => ('kind' in reply ? reply.kind : reply.waitMs))).toEqual([
      'slot',
      'slot',
      'slot',
      0,
      0,
    ])
    expect(statements).toHaveLength(1)
    expect(statements[0]?.requests.toSorted((one, other) => (`${one.key}` < `${other.key}` ? -1 : 1))).toMatchObject([
      { op: 'reserve', key: 'a', limits: { ownDelayMs: DELAY_MS }, now: 5, knownPauses: [] },
      { op: 'reserve', key: 'b' },
      { op: 'reserve', key: 'c' },
      { op: 'estimate', key: 'd', ahead: 0 },
      { op: 'circuit', origin: 'https://a.test' },
    ])
    expect(pacer.counters).toEqual({ calls: 5, failures: 0, repeats: 0, localSlots: 0 })
  })

  test('wait while two statements are under way, and are one statement then', async () => {
    const { client, statements } = fakeClient(() => undefined)
    const pacer = openPacer({ client, now: () => 0 })
    const replies: unknown[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      replies.push(pacer.reserve(key, limits))
      await callsAreSent()
    }
    expect(keysOf(statements)).toEqual(['a', 'b'])
    statements[0]?.reply()
    await expect.poll(() => keysOf(statements)).toEqual(['a', 'b', 'cde'])
    replies.push(pacer.reserve('f', limits))
    await callsAreSent()
    expect(statements).toHaveLength(3)
    statements[2]?.reply()
    statements[1]?.reply()
    await expect.poll(() => keysOf(statements)).toEqual(['a', 'b', 'cde', 'f'])
    statements[3]?.reply()
    expect(await Promise.all(replies)).toMatchObject(replies.map(() => ({ kind: 'slot' })))
  })

  test('of a key keep their order, and those of other keys pass them', async () => {
    const { client, statements } = fakeClient(() => undefined)
    const pacer = openPacer({ client, now: () => 0 })
    const replies: Promise<unknown>[] = [pacer.reserve('a', limits)]
    await callsAreSent()
    replies.push(pacer.cancel('a', '1'), pacer.cancel('a', '2'), pacer.reserve('b', limits))
    await expect.poll(() => keysOf(statements)).toEqual(['a', 'b'])
    statements[1]?.reply()
    await callsAreSent()
    expect(statements).toHaveLength(2)
    statements[0]?.reply()
    await expect.poll(() => keysOf(statements)).toEqual(['a', 'b', 'aa'])
    expect(statements[2]?.requests).toMatchObject([{ slot: 1 }, { slot: 2 }])
    statements[2]?.reply()
    await Promise.all(replies)
  })

  test('are at most 100 in a statement', async () => {
    const { client, statements } = fakeClient()
    const pacer = openPacer({ client, now: () => 0 })
    await Promise.all(Array.from({ length: 250 }, (_, n) => pacer.reserve(`k${n}`, limits)))
    expect(statements.map(({ requests }) => requests.length)).toEqual([100, 100, 50])
  })

  test('of a rejected statement are made alone, so that one bad request harms no other', async () => {
    const { client, statements } = fakeClient(({ requests, reply, fail }) => {
      if (requests.some(({ key }) => key === 'bad')) fail(stateError('PL001'))
      else reply()
    })
    const pacer = openPacer({ client, now: () => 0 })
    const failures = listen('politely:postgres:failure')
    const replies = await Promise.allSettled(['a', 'bad', 'b'].map((key) => pacer.reserve(key, limits)))
    expect(replies).toMatchObject([
      { value: { kind: 'slot' } },
      { reason: { code: 'PL001' } },
      { value: { kind: 'slot' } },
    ])
    expect(keysOf(statements)).toEqual(['abadb', 'a', 'bad', 'b'])
    expect(failures).toMatchObject([{ key: 'bad', operation: 'reserve', error: { code: 'PL001' } }])
    // Postgres has replied, so the next call need not wait.
    expect(await pacer.reserve('c', limits)).toMatchObject({ kind: 'slot' })
  })

  test('whose key another session has locked are alone until they get a reply', async () => {
    let isLocked = true
    const { client, statements } = fakeClient(({ requests, reply, fail }) => {
      if (isLocked && requests.some(({ key }) => key === 'locked')) fail(stateError('55P03'))
      else reply()
    })
    const clock = startClock()
    const pacer = openPacer({ client, now: clock.now })
    const reserve = () => Promise.all(['a', 'locked', 'b'].map((key) => pacer.reserve(key, limits)))
    expect(await reserve()).toMatchObject([{ kind: 'slot' }, { because: 'pacer-failure' }, { kind: 'slot' }])
    expect(keysOf(statements)).toEqual(['alockedb', 'a', 'locked', 'b'])
    clock.advance(1_000)
    await reserve()
    expect(keysOf(statements).slice(4)).toEqual(['ab', 'locked'])
    isLocked = false
    clock.advance(1_000)
    expect(await reserve()).toMatchObject([{ kind: 'slot' }, { kind: 'slot' }, { kind: 'slot' }])
    expect(await reserve()).toHaveLength(3)
    expect(keysOf(statements).slice(6)).toEqual(['ab', 'locked', 'alockedb'])
  })

  test.each(['40P01', '40001'])('that have lost a conflict, %s, are made again', async (code) => {
    let conflicts = 3
    const { client, statements } = fakeClient(({ reply, fail }) => (conflicts-- > 0 ? fail(stateError(code)) : reply()))
    const pacer = openPacer({ client, now: () => 0 })
    const replies = await Promise.all(['a', 'b'].map((key) => pacer.reserve(key, limits)))
    expect(replies).toMatchObject([{ kind: 'slot' }, { kind: 'slot' }])
    expect(keysOf(statements)).toEqual(['ab', 'a', 'a', 'a', 'b'])
    expect(pacer.counters).toMatchObject({ failures: 0 })
  })

  test('leave one of the two statements to other keys, if they are alone', async () => {
    const { client, statements } = fakeClient(({ requests, fail }) => {
      if (requests.length > 1) fail(stateError('55P03'))
    })
    const pacer = openPacer({ client, now: () => 0 })
    const replies = ['a', 'b'].map((key) => pacer.reserve(key, limits))
    await expect.poll(() => keysOf(statements)).toEqual(['ab', 'a'])
    replies.push(pacer.reserve('c', limits))
    await expect.poll(() => keysOf(statements)).toEqual(['ab', 'a', 'c'])
    for (const n of [1, 2]) statements[n]?.reply()
    await expect.poll(() => keysOf(statements)).toEqual(['ab', 'a', 'c', 'b'])
    statements[3]?.reply()
    expect(await Promise.all(replies)).toMatchObject([{ kind: 'slot' }, { kind: 'slot' }, { kind: 'slot' }])
  })

  test('of a key stay in order when their statement was rejected', async () => {
    const { client, statements } = fakeClient(({ requests, reply, fail }) =>
      requests.length > 1 ? fail(stateError('PL001')) : reply(),
    )
    const pacer = openPacer({ client, now: () => 0 })
    await Promise.all([pacer.cancel('a', '1'), pacer.cancel('a', '2'), pacer.cancel('a', '3')])
    expect(statements.slice(1).flatMap(({ requests }) => requests.map(({ slot }) => slot))).toEqual([1, 2, 3])
  })
})

describe('a reply', () => {
  test.for<[string, (replies: readonly object[]) => unknown]>([
    ['parsed', (replies) => replies],
    ['as text', (replies) => JSON.stringify(replies)],
    ['as a list of texts', (replies) => replies.map((reply) => JSON.stringify(reply))],
  ])('may arrive %s', async ([, write]) => {
    const { client } = fakeClient(({ requests, reply }) => reply([{ replies: write(requests.map(replyTo)) }]))
    const pacer = openPacer({ client, now: () => 0 })
    expect(await pacer.reserve('a', limits)).toEqual({
      kind: 'slot',
      ticket: `${slotReply.slot}`,
      delay: slotReply.delay,
    })
  })

  test.for<[string, readonly object[]]>([
    ['no row', []],
    ['a row without replies', [{}]],
    ['text that is not JSON', [{ replies: 'slot' }]],
    ['too few replies', [{ replies: [] }]],
    ['null', [{ replies: [null] }]],
    ['a reply to another operation', [{ replies: [replyTo({ op: 'estimate', key: '' })] }]],
    ['an unknown reason', [{ replies: [{ ...slotReply, delay: { delayMs: 1, because: 'why' } }] }]],
    ['a negative delay', [{ replies: [{ ...slotReply, delay: { delayMs: -1, because: 'cap' } }] }]],
    ['no number', [{ replies: [{ ...slotReply, slot: null }] }]],
    ['no epoch', [{ replies: [{ ...slotReply, epoch: undefined }] }]],
    ['no flag', [{ replies: [{ ...slotReply, isEpochLost: 'f' }] }]],
  ])('of %s is a failure', async ([, rows]) => {
    const { client } = fakeClient(({ reply }) => reply(rows))
    const pacer = openPacer({ client, now: () => 0 })
    const failures = listen('politely:postgres:failure')
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'wait', because: 'pacer-failure', waitMs: 250 })
    expect(failures).toMatchObject([{ error: { code: 'ERR_POLITELY_POSTGRES_REPLY' } }])
  })

  test('later than timeoutMs is a failure, and its slot is given back', async () => {
    const { client, statements } = fakeClient(({ requests, reply }) => requests[0]?.op !== 'reserve' && reply())
    const pacer = openPacer({ client, timeoutMs: 300 })
    const failures = listen('politely:postgres:failure')
    const recoveries = listen('politely:postgres:recovered')
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    expect(failures).toMatchObject([{ pacer, key: 'a', error: { code: 'ERR_POLITELY_POSTGRES_TIMEOUT' } }])
    statements[0]?.reply()
    await expect
      .poll(() => statements.flatMap(({ requests }) => requests))
      .toMatchObject([{ op: 'reserve' }, { op: 'cancel', key: 'a', slot: slotReply.slot }])
    await expect.poll(() => recoveries).toMatchObject([{ pacer, key: 'a', failures: 1 }])
  })

  test('that never comes does not stop the pacer', async () => {
    const { client, statements } = fakeClient(({ reply }) => statements.length > 4 && reply())
    const clock = startClock()
    const pacer = openPacer({ client, timeoutMs: 20, now: clock.now })
    let reply = await pacer.reserve('a', limits)
    for (let attempt = 0; attempt < 50 && reply.kind === 'wait'; attempt++) {
      expect(reply.because).toBe('pacer-failure')
      clock.advance(5_000)
      reply = await pacer.reserve('a', limits)
    }
    expect(reply.kind).toBe('slot')
    expect(statements).toHaveLength(5)
  })

  test('is not asked for if the call has waited for its statement for too long', async () => {
    const { client, statements } = fakeClient(() => undefined)
    const pacer = openPacer({ client, timeoutMs: 50 })
    const replies = await Promise.all(Array.from({ length: 1_000 }, (_, n) => pacer.reserve(`k${n}`, limits)))
    expect(replies).toMatchObject(replies.map(() => ({ because: 'pacer-failure' })))
    // The first two statements no longer count as under way.
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(statements.flatMap(({ requests }) => requests).length).toBeLessThan(replies.length / 2)
  })
})

describe('a caller', () => {
  const FAILURES = [
    ['53300', 'too many connections'],
    ['55P03', 'lock timeout'],
    ['57014', 'statement timeout'],
    ['40P01', 'deadlock'],
    ['25006', 'a standby'],
    ['57P01', 'shut down'],
    ['57P03', 'starting'],
    ['28P01', 'another password'],
    ['ECONNREFUSED', 'no server'],
  ] as const

  test.for(FAILURES)('waits after %s (%s), and the pacer says so', async ([code]) => {
    let isAway = true
    const { client } = fakeClient(({ reply, fail }) => (isAway ? fail(stateError(code)) : reply()))
    const clock = startClock()
    const pacer = openPacer({ client, now: clock.now })
    const failures = listen('politely:postgres:failure')
    const recoveries = listen('politely:postgres:recovered')
    expect(await pacer.reserve('a', limits)).toEqual({
      kind: 'wait',
      ticket: undefined,
      waitMs: 250,
      because: 'pacer-failure',
    })
    clock.advance(100)
    expect(await pacer.reserve('a', limits)).toMatchObject({ waitMs: 150, because: 'pacer-failure' })
    expect(failures).toEqual([
      { pacer, at: clock.now() - 100, key: 'a', operation: 'reserve', error: expect.objectContaining({ code }) },
    ])
    isAway = false
    clock.advance(150)
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'slot' })
    expect(recoveries).toEqual([{ pacer, at: clock.now(), key: 'a', failures: 1 }])
    expect(pacer.counters).toMatchObject({ calls: 2, failures: 1 })
  })

  test('paces locally instead, with onFailure local', async () => {
    const { client } = fakeClient(({ fail }) => fail(stateError('53300')))
    const clock = startClock()
    const pacer = openPacer({ client, now: clock.now, onFailure: 'local', fleetSize: 3 })
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'wait', waitMs: 3 * DELAY_MS })
    clock.advance(3 * DELAY_MS)
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'slot', delay: { delayMs: 3 * DELAY_MS } })
    expect(pacer.counters.localSlots).toBe(1)
  })

  test('loses no pushback: it is told when Postgres is back', async () => {
    let isAway = false
    const { client, statements } = fakeClient(({ reply, fail }) => (isAway ? fail(stateError('57P01')) : reply()))
    const pacer = openPacer({ client })
    const slot = await pacer.reserve('a', limits)
    isAway = true
    await pacer.report('a', `${slot.ticket}`, { status: 429, retryAfter: '60' })
    isAway = false
    const last = () => statements.filter(({ requests }) => requests.some(({ op }) => op === 'report'))
    await expect.poll(() => last().length).toBe(2)
    expect(last()[1]?.requests).toMatchObject([
      { op: 'report', slot: slotReply.slot, pushback: { requestedMs: 60_000 } },
    ])
  })

  test.for([
    ['3F000', 'is missing, or older'],
    ['42P01', 'is missing, or older'],
    ['42883', 'is missing, or older'],
    ['42501', 'this role may not use it'],
  ])('sees what is wrong with the schema (%s: %s)', async ([code, problem]) => {
    let isMissing = true
    const { client } = fakeClient(({ reply, fail }) => (isMissing ? fail(stateError(`${code}`)) : reply()))
    const clock = startClock()
    const pacer = openPacer({ client, schema: 'crawl', now: clock.now })
    const schemaError = {
      code: 'ERR_POLITELY_POSTGRES_SCHEMA',
      schema: 'crawl',
      message: expect.stringMatching(`^schema "crawl": ${problem}.* run migrate`),
      cause: { code },
    }
    await expect(pacer.reserve('a', limits)).rejects.toMatchObject(schemaError)
    isMissing = false
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'slot' })
    // A schema that has worked comes back, for example when a restore has ended.
    isMissing = true
    const failures = listen('politely:postgres:failure')
    expect(await pacer.reserve('a', limits)).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    expect(failures).toMatchObject([{ error: schemaError }])
  })
})

test('the gate says why requests wait, and when Postgres is back', async () => {
  const emit = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => emit.mockRestore())
  let isAway = true
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`))
  const { client } = fakeClient(({ reply, fail }) => (isAway ? fail(new AggregateError(refused)) : reply()))
  const log: string[] = []
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: async () => new Response('') })
  const gate = new PoliteGate({ robots, pacer: openPacer({ client }), logger: { warn: (line) => log.push(line) } })
  const url = 'https://example.com/'
  const entered = gate.enter(url)
  await expect.poll(() => log).toHaveLength(1)
  isAway = false
  ;(await entered).release()
  const line =
    'PostgresPacer fails: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432; requests wait until it answers'
  expect(log).toEqual([line, 'PostgresPacer works again'])
  expect(emit.mock.calls).toEqual([
    [expect.stringContaining(line), { type: 'PolitelyWarning', code: 'POLITELY_PACER' }],
  ])
  gate.close()
  await robots.close()
})

const client = fakeClient().client
test.for<[string, unknown, string]>([
  ['no options', undefined, 'options'],
  ['no client', {}, 'client'],
  ['a client without query', { client: {} }, 'client'],
  ['an unknown option', { client, keyPrefix: 'x' }, 'keyPrefix'],
  ['a schema that needs quotes', { client, schema: 'My Schema' }, 'schema'],
  ['an unknown policy', { client, onFailure: 'ignore' }, 'onFailure'],
  ['a local policy without the size of the fleet', { client, onFailure: 'local' }, 'fleetSize'],
  ['no time for a reply', { client, timeoutMs: 0 }, 'timeoutMs'],
  ['a clock that is not a function', { client, now: 5 }, 'now'],
])('rejects %s', ([, options, option]) => {
  expect(() => new PostgresPacer(options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
  )
})

test.for<[string, (client: never) => unknown]>([
  ['PostgresPacer', (client) => new PostgresPacer(client)],
  ['PostgresStore', (client) => new PostgresStore(client)],
])('%s: says what to write for a client instead of options', ([, create]) => {
  for (const client of [new pg.Pool(), new pg.Client()])
    expect(() => create(client as never)).toThrow(
      'options: an object of another class was given instead of options; write { client }',
    )
})
