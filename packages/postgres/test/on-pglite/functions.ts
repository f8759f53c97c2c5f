// The SQL functions, called as a worker in another language calls them.
import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { paceCallCases } from '@politely/testkit/cases/pace-calls'
import { describe, expect, test } from 'vitest'
import { migrate, PostgresPacer } from '../../src/index.ts'
import { empty, newSchema, pglite } from './pglite.ts'

const client = await pglite()
const KEY = 'https://example.com'
const limits = { ownDelayMs: 1_000 }

/** Calls a function of the schema. */
async function call(schema: string, name: string, request: unknown) {
  const { rows } = await client.query<{ reply: Record<string, unknown> }>(
    `SELECT ${schema}.${name}($1::jsonb) AS reply`,
    [JSON.stringify(request)],
  )
  return rows[0]?.reply ?? {}
}

async function callMany(schema: string, name: 'call_many' | 'reserve_many', requests: readonly unknown[]) {
  const { rows } = await client.query<{ replies: Record<string, unknown>[] }>(
    `SELECT ${schema}.${name}($1::text[]::jsonb[]) AS replies`,
    [requests.map((request) => JSON.stringify(request))],
  )
  return rows[0]?.replies ?? []
}

async function countOf(schema: string, table: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${schema}.${table}`)
  return rows[0]?.n ?? -1
}

test.for(paceCallCases)('$name', async ({ calls }) => {
  const schema = await empty(client)
  for (const { function: name, request, reply } of calls) {
    const expected = name === 'circuit' ? { ...reply, now: expect.any(Number) } : reply
    expect(await call(schema, name, { key: KEY, origin: KEY, ...request })).toEqual(expected)
  }
})

describe('the clock and the epoch', () => {
  test('without `now`, the functions use the clock of Postgres', async () => {
    const schema = await empty(client)
    const before = Date.now()
    const first = await call(schema, 'reserve', { key: KEY, limits })
    expect(first).toMatchObject({ kind: 'wait', because: 'own-delay', isEpochLost: true })
    expect(first.epoch).toBeGreaterThanOrEqual(before - 1)
    expect(first.epoch).toBeLessThanOrEqual(Date.now() + 1)
  })

  test.for([
    ['the row of the epoch is lost', 'DELETE FROM S.epoch'],
    ['the paces were emptied, so their file is another one', 'TRUNCATE S.pace'],
    ['the server has another start time', "UPDATE S.epoch SET history = regexp_replace(history, '\\d+$', '1')"],
    ['the database has another OID', "UPDATE S.epoch SET history = regexp_replace(history, '\\d+/', '1/')"],
  ] as const)('an epoch begins if %s', async ([, loss]) => {
    const schema = await empty(client)
    await call(schema, 'reserve', { key: KEY, limits, now: 0 })
    expect(await call(schema, 'reserve', { key: KEY, limits, now: 5_000 })).toMatchObject({ kind: 'slot', epoch: 0 })
    await client.exec(loss.replaceAll('S.', `${schema}.`))
    const reply = await call(schema, 'reserve', { key: KEY, limits, maxAllowanceMs: 100, now: 90_000 })
    expect(reply).toMatchObject({ kind: 'wait', epoch: 90_000, isEpochLost: true, waitMs: 1_100 })
    expect(await call(schema, 'reserve', { key: KEY, limits, now: 95_000 })).toMatchObject({
      kind: 'slot',
      isEpochLost: false,
    })
  })

  test('an epoch begins if the clock was set back behind its start, so that new keys need not wait for it', async () => {
    const schema = await empty(client)
    await call(schema, 'reserve', { key: KEY, limits })
    await client.exec(`UPDATE ${schema}.epoch SET start = start + 3600000`)
    const reply = await call(schema, 'reserve', { key: 'new', limits })
    expect(reply).toMatchObject({ kind: 'wait', isEpochLost: true })
    expect(reply.waitMs).toBeLessThanOrEqual(1_000)
    expect(await call(schema, 'reserve', { key: 'new', limits })).toMatchObject({ isEpochLost: false })
  })

  test('replies are exact whatever digits of doubles the session asks for', async () => {
    const schema = await empty(client)
    await call(schema, 'pause', { key: KEY, knownPauses: [], now: 0 })
    const now = 1_767_225_600_000.123
    await client.exec('SET extra_float_digits = -10')
    const reply = await call(schema, 'reserve', { key: KEY, limits: { ownDelayMs: 1 / 3 }, now })
    await client.exec('RESET extra_float_digits')
    expect(reply).toMatchObject({ slot: Math.floor(now * 1_000) + 1, delay: { delayMs: 1 / 3 }, epoch: 0 })
  })
})

describe('several calls in one', () => {
  test('run in the order of the keys and of the requests, and reply in the order of the requests', async () => {
    const schema = await empty(client)
    const reserve = (key: string) => ({ op: 'reserve', key, limits, now: 5_000 })
    await call(schema, 'pause', { key: KEY, knownPauses: [], now: 0 })
    const replies = await callMany(schema, 'call_many', [
      reserve('b'),
      reserve('a'),
      reserve('b'),
      { op: 'circuit', origin: 'a', next: '{}', keepMs: 1_000 },
      { op: 'estimate', key: 'a', limits, now: 5_000 },
    ])
    expect(replies.map(({ kind }) => kind)).toEqual(['slot', 'slot', 'wait', undefined, 'estimate'])
    expect(replies[3]).toMatchObject({ isStored: true, value: '{}' })
    expect(await callMany(schema, 'reserve_many', [reserve('a'), reserve('c')])).toMatchObject([
      { kind: 'wait' },
      { kind: 'slot' },
    ])
    expect(await callMany(schema, 'call_many', [])).toEqual([])
  })

  test('an unknown operation rejects all of them', async () => {
    const schema = await empty(client)
    const requests = [
      { op: 'reserve', key: 'a', limits },
      { op: 'drop', key: 'a' },
    ]
    await expect(callMany(schema, 'call_many', requests)).rejects.toMatchObject({ code: 'PL001' })
    expect(await countOf(schema, 'pace')).toBe(0)
  })
})

test('a circuit is stored only if the caller has read its present value', async () => {
  const schema = await empty(client)
  const origin = KEY
  expect(await call(schema, 'circuit', { origin })).toMatchObject({ isStored: false, value: '' })
  expect(await call(schema, 'circuit', { origin, next: 'one', keepMs: 60_000 })).toMatchObject({
    isStored: true,
    value: 'one',
  })
  const late = await call(schema, 'circuit', { origin, value: '', next: 'two', keepMs: 60_000 })
  expect(late).toMatchObject({ isStored: false, value: 'one' })
  expect(await call(schema, 'circuit', { origin, now: 1_000 })).toMatchObject({ now: 1_000 })
  const reply = await call(schema, 'circuit', { origin, value: 'one', next: 'two', keepMs: 0 })
  expect(reply).toMatchObject({ isStored: true, value: 'two' })
  expect(await call(schema, 'circuit', { origin })).toMatchObject({ isStored: false, value: '' })
})

test('a lease is held by one token at a time', async () => {
  const schema = await empty(client)
  const lease = (token: string, leaseMs: number) => call(schema, 'lease', { origin: KEY, token, leaseMs })
  expect(await lease('a', 60_000)).toEqual({ isLeased: true })
  expect(await lease('b', 60_000)).toEqual({ isLeased: false })
  expect(await lease('a', 0)).toEqual({ isLeased: true })
  expect(await lease('b', 60_000)).toEqual({ isLeased: true })
  expect(await call(schema, 'release', { origin: KEY, token: 'a' })).toEqual({ isReleased: false })
  expect(await call(schema, 'release', { origin: KEY, token: 'b' })).toEqual({ isReleased: true })
})

const backoff = { firstMs: 1, maxMs: 1, factor: 2 }

describe('bad requests', () => {
  test.for([
    ['reserve', { limits }],
    ['reserve', { key: KEY }],
    ['reserve', { key: KEY, limits: {} }],
    ['reserve', { key: KEY, limits: { ownDelayMs: -1 } }],
    ['reserve', { key: KEY, limits: { ownDelayMs: 'soon' } }],
    ['reserve', { key: KEY, limits: { ownDelayMs: 'NaN' } }],
    ['reserve', { key: KEY, limits: { ownDelayMs: 'Infinity' } }],
    ['reserve', { key: KEY, limits: 5 }],
    ['reserve', { key: KEY, limits, slot: 'last' }],
    ['reserve', { key: KEY, limits, now: 'soon' }],
    ['reserve', { key: KEY, limits: { ...limits, requestRates: [{ requests: 0, periodMs: 1 }] } }],
    ['reserve', { key: KEY, limits: { ...limits, requestRates: [{ requests: 1 }] } }],
    ['reserve', { key: KEY, limits: { ...limits, requestRates: {} } }],
    [
      'reserve',
      { key: KEY, limits: { ...limits, requestRates: [{ requests: 1, periodMs: 1, between: { from: 1 } }] } },
    ],
    ['reserve', { key: KEY, limits: { ...limits, visitTimes: [{ from: 1 }] } }],
    ['reserve', { key: KEY, limits: { ...limits, visitTimes: [{ from: 1, to: 2_000 }] } }],
    ['reserve', { key: KEY, limits, knownPauses: [{ ms: 1, because: 'mood' }] }],
    ['reserve', { key: KEY, limits, knownPauses: [{ because: 'backoff' }] }],
    ['reserve', []],
    ['reserve', 'text'],
    ['reserve', null],
    ['estimate', { key: KEY, limits, ahead: 'many' }],
    ['pause', {}],
    ['pause', { key: KEY, knownPauses: 1 }],
    ['sent', { key: KEY, delay: { delayMs: 1 } }],
    ['sent', { key: KEY, delay: { delayMs: 1, because: 'mood' } }],
    ['cancel', { key: KEY }],
    ['cancel_wait', { key: KEY, turnAt: 1, turnBefore: 1 }],
    ['report', { key: KEY, pushback: { backoff } }],
    ['report', { key: KEY, slot: 1, pushback: {} }],
    ['report', { key: KEY, slot: 1, pushback: { backoff: { ...backoff, factor: 0 } } }],
    ['report', { key: KEY, slot: 1, pushback: { backoff: { firstMs: 1, maxMs: 1 } } }],
    ['end_request', { key: KEY, slot: 1 }],
    ['circuit', {}],
    ['circuit', { origin: KEY, next: 'a' }],
    ['circuit', { origin: KEY, next: 'a', keepMs: 'long' }],
    ['robots_get', {}],
    ['robots_set', { origin: KEY, text: 'a' }],
    ['robots_set', { origin: KEY, text: 'a', keepUntil: 'later' }],
    ['lease', { origin: KEY, token: 'a' }],
    ['release', { origin: KEY }],
  ] as const)('%s of %j has the SQLSTATE PL001', async ([name, request]) => {
    await expect(call(schema, name, request)).rejects.toMatchObject({ code: 'PL001' })
  })

  test.for([
    ['reserve', { key: KEY, limits, allowanceMs: -5 }, 'allowanceMs: -5 is invalid; expected a number from 0 to 1e18'],
    ['reserve', { key: KEY, limits, takesTurn: 'maybe' }, 'takesTurn: "maybe" is invalid; expected true or false'],
    ['reserve', { key: KEY, limits: 5 }, 'limits: 5 is invalid; expected an object'],
    ['reserve', { key: KEY, limits: { ownDelayMs: 'soon' } }, 'limits.ownDelayMs: "soon" is invalid'],
    ['reserve', { key: KEY, limits: { ownDelayMs: 1e-300 } }, 'limits.ownDelayMs: 0.0'],
    [
      'reserve',
      { key: KEY, limits: { ...limits, pauseFrom: 'End' } },
      'limits.pauseFrom: End is invalid; expected start or end',
    ],
    ['reserve', { key: KEY, limits: { ...limits, crawlDelay: 10_000 } }, 'limits: unknown fields in {"crawlDelay"'],
    [
      'reserve',
      { key: KEY, limits: { ...limits, requestRates: 5 } },
      'limits.requestRates: 5 is invalid; expected a list',
    ],
    [
      'reserve',
      { key: KEY, limits: { ...limits, requestRates: [{ requests: 1, periodMs: -1 }] } },
      'limits.requestRates[0].periodMs: -1 is invalid',
    ],
    [
      'reserve',
      { key: KEY, limits: { ...limits, requestRates: [{ requests: 1e-18, periodMs: 1e18 }] } },
      'limits.requestRates: expected',
    ],
    [
      'reserve',
      { key: KEY, limits: { ...limits, visitTimes: [{ from: 1, to: 1_441 }] } },
      'limits.visitTimes[0].to: 1441',
    ],
    ['reserve', { key: KEY, limits, knownPauses: [{ ms: 1, because: 'mood' }] }, 'knownPauses[0].because: "mood"'],
    ['sent', { key: KEY, delay: { delayMs: -1, because: 'cap' } }, 'delay.delayMs: -1'],
    [
      'report',
      { key: KEY, slot: 1, pushback: { backoff: { ...backoff, firstMs: 1e-300 } } },
      'pushback.backoff.firstMs: 0.0',
    ],
    ['circuit', { origin: KEY, now: 'soon' }, 'keepMs, now: expected numbers'],
    ['robots_set', { origin: KEY, text: 'a', keepUntil: -1 }, 'keepUntil: -1 is invalid'],
  ] as const)('%s of %j is told by the name of the field', async ([name, request, message]) => {
    await expect(call(schema, name, request)).rejects.toMatchObject({
      code: 'PL001',
      message: expect.stringContaining(message),
    })
  })

  test.for(['call_many', 'reserve_many'] as const)('%s of null has the SQLSTATE PL001', async (name) => {
    await expect(client.query(`SELECT ${schema}.${name}(NULL)`)).rejects.toMatchObject({ code: 'PL001' })
  })

  test('the largest and smallest values are computed', async () => {
    const extremes = [0, 1e-18, 1, 1e18]
    for (const periodMs of extremes) {
      for (const small of extremes) {
        const requestRates = [
          { requests: 1, periodMs },
          { requests: 1e18, periodMs: small, between: { from: 1, to: 0 } },
        ]
        const extreme = {
          ownDelayMs: small,
          crawlDelayMs: periodMs,
          delayFactor: small,
          requestRates,
          visitTimes: [{ from: 3, to: 5 }],
        }
        const request = { key: KEY, limits: extreme, slot: 1e18, tookMs: periodMs, ahead: 1e18, maxAllowanceMs: small }
        for (const name of ['reserve', 'estimate', 'end_request']) await call(schema, name, request)
        for (const factor of [1e-300, 1, 1e300]) {
          await call(schema, 'report', {
            ...request,
            slot: 1e18,
            pushback: {
              requestedMs: periodMs === 1 ? 1 : undefined,
              backoff: { firstMs: small, maxMs: periodMs, factor },
            },
          })
        }
      }
    }
  })

  test('null is the same as an absent field', async () => {
    const request = {
      key: KEY,
      limits: { ...limits, requestRates: null, visitTimes: null, maxDelayMs: null },
      slot: null,
      knownPauses: null,
    }
    expect(await call(schema, 'reserve', request)).toMatchObject({ kind: 'wait' })
  })

  test('a key may be of any length', async () => {
    const keys = Array.from({ length: 3_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join('')
    for (const key of [keys, `${keys}a`]) {
      expect(await call(schema, 'reserve', { key, limits, now: 0 })).toMatchObject({ turn: { turnBefore: 0 } })
      expect(await call(schema, 'circuit', { origin: key, next: 'a', keepMs: 1_000 })).toMatchObject({ isStored: true })
    }
  })
})
const schema = await empty(client)

describe('rights', () => {
  test('a worker calls all functions, reads no table, and gives no time', async () => {
    const schema = await newSchema(client)
    const role = `Worker "${schema}"`
    await client.exec(`CREATE ROLE "${role.replaceAll('"', '""')}"`)
    await expect(asRole(role, () => call(schema, 'reserve', { key: KEY, limits }))).rejects.toMatchObject({
      code: '42501',
    })
    await migrate(client, { schema, grantTo: role })
    await asRole(role, async () => {
      expect(await call(schema, 'reserve', { key: KEY, limits })).toMatchObject({ kind: 'wait' })
      expect(await callMany(schema, 'call_many', [{ op: 'estimate', key: KEY, limits }])).toMatchObject([
        { kind: 'estimate' },
      ])
      expect(await call(schema, 'report', { key: KEY, slot: 1 })).toMatchObject({ kind: 'done' })
      expect(await call(schema, 'pause', { key: KEY })).toMatchObject({ kind: 'done' })
      expect(await call(schema, 'sent', { key: KEY })).toMatchObject({ kind: 'done' })
      expect(await call(schema, 'cancel', { key: KEY, slot: 1 })).toMatchObject({ kind: 'done' })
      expect(await call(schema, 'cancel_wait', { key: KEY, turnAt: 1, turnBefore: 0, turnStepMs: 1 })).toMatchObject({
        kind: 'done',
      })
      expect(await call(schema, 'end_request', { key: KEY, slot: 1, limits })).toMatchObject({ kind: 'done' })
      expect(await call(schema, 'circuit', { origin: KEY, next: 'a', keepMs: 1 })).toMatchObject({ isStored: true })
      expect(await call(schema, 'robots_set', { origin: KEY, text: 'a', keepUntil: Date.now() + 9_000 })).toEqual({
        kind: 'done',
      })
      expect(await call(schema, 'robots_get', { origin: KEY })).toEqual({ text: 'a' })
      expect(await call(schema, 'robots_delete', { origin: KEY })).toEqual({ kind: 'done' })
      expect(await call(schema, 'lease', { origin: KEY, token: 'a', leaseMs: 1 })).toEqual({ isLeased: true })
      expect(await call(schema, 'release', { origin: KEY, token: 'a' })).toEqual({ isReleased: true })
      for (const [name, request] of [
        ['reserve', { key: KEY, limits, now: 0 }],
        ['reserve', { key: KEY, limits, now: '0' }],
        ['robots_get', { origin: KEY, now: 0 }],
        ['circuit', { origin: KEY, now: 0 }],
      ] as const) {
        await expect(call(schema, name, request)).rejects.toMatchObject({
          code: 'PL001',
          message: /^now: only the owner/,
        })
      }
      await expect(
        callMany(schema, 'call_many', [
          { op: 'pause', key: KEY, now: null },
          { op: 'pause', key: KEY, now: 0 },
        ]),
      ).rejects.toMatchObject({
        code: 'PL001',
      })
      for (const table of ['pace', 'epoch', 'circuit', 'robots', 'lease', 'kept_slots', 'sweep', 'version']) {
        await expect(countOf(schema, table)).rejects.toMatchObject({ code: '42501' })
      }
      // A helper runs with the rights of the worker, which are none on the tables.
      await expect(client.query(`SELECT ${schema}.sweep_step('pace', 'key')`)).rejects.toMatchObject({ code: '42501' })
    })
  })

  /** Runs calls in a session of another role. */
  async function asRole<T>(role: string, run: () => Promise<T>): Promise<T> {
    await client.exec(`SET SESSION AUTHORIZATION "${role.replaceAll('"', '""')}"`)
    try {
      return await run()
    } finally {
      await client.exec('SET SESSION AUTHORIZATION postgres')
    }
  }
})

describe('the sweep', () => {
  test('deletes expired rows in steps along the key, and keeps the others', async () => {
    const schema = await empty(client)
    await client.exec(`
      INSERT INTO ${schema}.pace (key, keep_until)
        SELECT 'k' || lpad(n::text, 4, '0'), CASE WHEN n % 10 = 0 THEN 1e15 ELSE 0 END FROM generate_series(1, 1200) n;
    `)
    const step = () => client.exec(`UPDATE ${schema}.sweep SET due = 0; SELECT ${schema}.sweep_step('pace', 'key')`)
    await step() // makes the row of the sweep
    expect(await countOf(schema, 'pace')).toBe(1_200)
    await step()
    expect(await countOf(schema, 'pace')).toBe(1_200 - 450)
    for (let i = 0; i < 3; i++) await step()
    expect(await countOf(schema, 'pace')).toBe(120)
  })

  test('the calls make its steps, when they are due', async () => {
    const schema = await empty(client)
    await client.exec(`INSERT INTO ${schema}.pace (key) SELECT 'k' || n FROM generate_series(1, 100) n`)
    const requests = Array.from({ length: 50 }, () => ({ op: 'estimate', key: KEY, limits })) // enough to look for sure
    await callMany(schema, 'call_many', requests)
    await callMany(schema, 'call_many', requests)
    expect(await countOf(schema, 'pace')).toBe(0)
    await client.exec(`INSERT INTO ${schema}.pace (key) SELECT 'k' || n FROM generate_series(1, 100) n`)
    await client.exec(`UPDATE ${schema}.sweep SET due = 1e15`)
    await callMany(schema, 'call_many', requests)
    expect(await countOf(schema, 'pace')).toBe(100)
  })

  test('sets of texts, leases and circuits delete expired ones', async () => {
    const schema = await empty(client)
    const one = async (origin: string, ms: number) => {
      await call(schema, 'robots_set', { origin, text: 'a', keepUntil: Date.now() + ms })
      await call(schema, 'lease', { origin, token: 'a', leaseMs: ms === 0 ? 0 : 60_000 })
      await call(schema, 'circuit', { origin, next: 'a', keepMs: ms })
    }
    await one('a', 0)
    await client.exec(`UPDATE ${schema}.sweep SET due = 0`)
    await one('b', 60_000)
    for (const table of ['robots', 'lease', 'circuit']) {
      expect((await client.query(`SELECT origin FROM ${schema}.${table}`)).rows).toEqual([{ origin: 'b' }])
    }
  })
})

describe('migrate', () => {
  test('can run again, and keeps data', async () => {
    const schema = await newSchema(client)
    await call(schema, 'robots_set', { origin: KEY, text: 'a', keepUntil: Date.now() + 60_000 })
    await call(schema, 'reserve', { key: KEY, limits, now: 0 })
    await migrate(client, { schema })
    expect(await call(schema, 'robots_get', { origin: KEY })).toEqual({ text: 'a' })
    expect(await call(schema, 'reserve', { key: KEY, limits, now: 100 })).toMatchObject({ isEpochLost: false })
  })

  test('installs the default schema', async () => {
    await migrate(client)
    expect(await call('politely', 'estimate', { key: KEY, limits })).toMatchObject({ kind: 'estimate' })
  })

  test('refuses a schema that is newer than the package, and leaves it as it is', async () => {
    const schema = await newSchema(client)
    await client.exec(`UPDATE ${schema}.version SET version = 99; DROP FUNCTION ${schema}.release`)
    await expect(migrate(client, { schema })).rejects.toMatchObject({
      code: 'ERR_POLITELY_POSTGRES_SCHEMA',
      schema,
      message: expect.stringContaining('version 99'),
    })
    await expect(call(schema, 'release', { origin: KEY, token: 'a' })).rejects.toMatchObject({ code: '42883' })
  })

  test('brings version 1 up to date, with its data and while its workers go on', async () => {
    const schema = 'version_1'
    const sql = gunzipSync(await readFile(new URL('../version-1.sql.gz', import.meta.url))).toString()
    await client.exec(sql.replace(/\bpolitely\b/g, schema))
    const reserve = { op: 'reserve', key: KEY, limits: { ownDelayMs: 60_000 } }
    await callMany(schema, 'call_many', [reserve])
    await client.exec(`UPDATE ${schema}.epoch SET start = 0; DELETE FROM ${schema}.pace`)
    const [slot] = await callMany(schema, 'call_many', [reserve])
    expect(slot).toMatchObject({ kind: 'slot' })
    await call(schema, 'robots_set', { origin: KEY, text: 'kept', keepUntil: 1e15 })
    const pacer = new PostgresPacer({ client, schema, leaseMs: 60_000 })
    const noDelay = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
    const counted = (open: string[]) =>
      pacer.reserve('k', noDelay, undefined, 0, false, 0, { max: 1, leaseMs: undefined, open })
    await expect(counted([])).rejects.toMatchObject({
      code: 'ERR_POLITELY_POSTGRES_SCHEMA',
      message: expect.stringContaining('run migrate(client)'),
    })
    for (let round = 0; round < 2; round++) await migrate(client, { schema })
    expect(await countOf(schema, 'version WHERE version = 2')).toBe(1)
    expect(await callMany(schema, 'call_many', [reserve])).toMatchObject([{ kind: 'wait', isEpochLost: false }])
    expect(await call(schema, 'robots_get', { origin: KEY })).toEqual({ text: 'kept' })
    expect(await counted([])).toMatchObject({ kind: 'slot' })
    const byOldWorker = [{ ...reserve, key: 'k', limits: { ownDelayMs: 0 } }]
    await expect.poll(async () => (await callMany(schema, 'call_many', byOldWorker))[0]?.kind).toBe('slot')
    const held = { kind: 'wait', because: 'concurrency', ended: ['5'] }
    await expect.poll(() => counted(['5'])).toMatchObject(held)
    pacer.close()
  })

  test('rejects the reserved words of this Postgres as names', async () => {
    const { rows } = await client.query<{ word: string }>("SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'")
    expect(rows.length).toBeGreaterThan(50)
    for (const { word } of rows) await expect(migrate(client, { schema: word })).rejects.toThrow('reserved word')
  })

  test('calls no function or operator of another schema', async () => {
    await client.exec(`
      CREATE SCHEMA trap; CREATE TABLE trap.caught (who text);
      CREATE FUNCTION trap.at_least(float8, integer) RETURNS boolean LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO trap.caught VALUES (current_user); RETURN true; END $$;
      CREATE OPERATOR trap.>= (LEFTARG = float8, RIGHTARG = integer, FUNCTION = trap.at_least);
      SET search_path = trap, pg_catalog;
    `)
    const schema = await newSchema(client)
    expect((await client.query('SHOW search_path')).rows).toEqual([{ search_path: 'trap, pg_catalog' }])
    await client.exec('RESET search_path')
    await call(schema, 'reserve', { key: KEY, limits })
    expect(await countOf('trap', 'caught')).toBe(0)
  })

  test.for([
    [
      'of another role',
      'CREATE ROLE another; CREATE SCHEMA taken AUTHORIZATION another',
      'belongs to the role another',
    ],
    ['of another program', 'CREATE SCHEMA taken; CREATE TABLE taken.orders ()', 'has objects of other programs'],
    ['whose version is lost', 'CREATE SCHEMA taken; CREATE TABLE taken.version (version integer)', 'has no version'],
  ] as const)('refuses a schema %s', async ([, create, message]) => {
    await client.exec(create)
    const schema = 'taken'
    await expect(migrate(client, { schema })).rejects.toMatchObject({
      code: 'ERR_POLITELY_POSTGRES_SCHEMA',
      schema,
      message: expect.stringContaining(message),
    })
    await client.exec('DROP SCHEMA taken CASCADE')
  })

  test('takes an empty schema of its role, even with default rights', async () => {
    await client.exec('CREATE SCHEMA empty; ALTER DEFAULT PRIVILEGES IN SCHEMA empty GRANT SELECT ON TABLES TO PUBLIC')
    await migrate(client, { schema: 'empty' })
    expect(await call('empty', 'estimate', { key: KEY, limits })).toMatchObject({ kind: 'estimate' })
  })

  test('opens the functions for workers to their role, and leaves other functions of the schema alone', async () => {
    const schema = await newSchema(client)
    await client.exec(`
      CREATE ROLE only_worker;
      CREATE FUNCTION ${schema}.mine() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
      CREATE FUNCTION ${schema}.hidden() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
      REVOKE ALL ON FUNCTION ${schema}.hidden FROM PUBLIC;
    `)
    await migrate(client, { schema, grantTo: 'only_worker' })
    const openTo = async (role: string) => {
      const { rows } = await client.query<{ name: string }>(
        `SELECT proname AS name FROM pg_proc WHERE pronamespace = $1::regnamespace
          AND has_function_privilege($2, oid, 'EXECUTE') ORDER BY proname COLLATE "C"`,
        [schema, role],
      )
      return rows.map(({ name }) => name)
    }
    await client.exec('CREATE ROLE nobody')
    expect(await openTo('nobody')).toEqual(['mine'])
    expect(await openTo('only_worker')).toEqual([
      'call_many',
      'call_many',
      'cancel',
      'cancel_wait',
      'circuit',
      'end_request',
      'estimate',
      'lease',
      'mine',
      'pause',
      'release',
      'release_slot',
      'renew_slot',
      'report',
      'reserve',
      'reserve_many',
      'robots_delete',
      'robots_get',
      'robots_set',
      'sent',
    ])
  })

  test.for([
    [{ schema: 'a; DROP TABLE b' }, 'schema: '],
    [{ schema: 'a'.repeat(41) }, 'schema: '],
    [{ schema: 'pg_x' }, 'schema: '],
    [{ schema: 'loop' }, 'schema: "loop" is a reserved word'],
    [{ schema: 'information_schema' }, 'schema: '],
    [{ grantTo: '' }, 'grantTo: '],
    [{ grant: 'a' }, 'grant'],
  ] as const)('rejects the options %j', async ([options, message]) => {
    await expect(migrate(client, options as never)).rejects.toThrow(message)
  })
})
