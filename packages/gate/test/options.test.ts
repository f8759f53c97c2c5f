// The options, and the errors for invalid ones.
import { RobotsClient } from '@politely/fetcher'
import { OPTIONS_OF_GATE as OPTIONS_KNOWN_TO_CLIENT } from '@politely/fetcher/internal'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { Agent } from 'undici'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import {
  assertOwnHost,
  LocalPacer,
  OptionError,
  PoliteGate,
  type PoliteGateOptions,
  type PolitelyOptions,
  politeHttpAgent,
  politely,
  refusalOf,
  resolveGate,
} from '../src/index.ts'
import { PACING_OPTIONS } from '../src/options/option-table.ts'
import { pacingOf } from '../src/options/pacing.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'

const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
const gate = new PoliteGate({ robots })

function optionError(make: () => unknown): OptionError {
  try {
    make()
  } catch (error) {
    if (error instanceof OptionError) return error
    throw error
  }
  throw new Error('the option was taken')
}

test.each<[given: Record<string, unknown>, option: string]>([
  [{ minDelayMs: -1 }, 'minDelayMs'],
  [{ minDelayMs: 'x' }, 'minDelayMs'],
  [{ minDelayMs: '1000' }, 'minDelayMs'],
  [{ minDelayMs: Number.NaN }, 'minDelayMs'],
  [{ maxDelayMs: -0.5 }, 'maxDelayMs'],
  [{ maxDelayMs: 5n }, 'maxDelayMs'],
  [{ delayFactor: 1000 }, 'delayFactor'],
  [{ delayFactor: -1 }, 'delayFactor'],
  [{ maxConcurrent: 0 }, 'maxConcurrent'],
  [{ maxConcurrent: 1.5 }, 'maxConcurrent'],
  [{ maxConcurrent: '8' }, 'maxConcurrent'],
  [{ maxConcurrentPerKey: 0 }, 'maxConcurrentPerKey'],
  [{ maxConcurrentPerDomain: 0 }, 'maxConcurrentPerDomain'],
  [{ maxConcurrentPerDomain: '8' }, 'maxConcurrentPerDomain'],
  [{ maxConcurrentPerKey: -2 }, 'maxConcurrentPerKey'],
  [{ maxConcurrentPerKey: Number.NaN }, 'maxConcurrentPerKey'],
  [{ slowAfterMs: 0 }, 'slowAfterMs'],
  [{ slowAfterMs: '10' }, 'slowAfterMs'],
  [{ maxWaitMs: -1 }, 'maxWaitMs'],
  [{ maxWaitMs: '10' }, 'maxWaitMs'],
  [{ maxQueuedPerKey: 0 }, 'maxQueuedPerKey'],
  [{ maxQueuedPerKey: 1.5 }, 'maxQueuedPerKey'],
  [{ releaseWarningMs: 0 }, 'releaseWarningMs'],
  [{ releaseWarningMs: '5' }, 'releaseWarningMs'],
  [{ progressMs: 0 }, 'progressMs'],
  [{ countRobots: 1 }, 'countRobots'],
  [{ progressMs: Number.POSITIVE_INFINITY }, 'progressMs'],
  [{ paceBy: 'site' }, 'paceBy'],
  [{ paceBy: 5 }, 'paceBy'],
  [{ paceBy: {} }, 'paceBy'],
  [{ jitter: -0.1 }, 'jitter'],
  [{ jitter: 2 }, 'jitter'],
  [{ jitter: true }, 'jitter'],
  [{ rateLimitHeaders: 'yes' }, 'rateLimitHeaders'],
  [{ countRobots: 1 }, 'countRobots'],
  [{ pace: { minDelayMs: 5 } }, 'pace'],
  [{ budget: -1 }, 'budget'],
  [{ budget: 1.5 }, 'budget'],
  [{ budget: '10' }, 'budget'],
  [{ obey: false }, 'obey'],
  [{ obey: null }, 'obey'],
  [{ obey: { rules: 0 } }, 'obey.rules'],
  [{ obey: { delays: 'no' } }, 'obey.delays'],
  [{ obey: { rule: false } }, 'obey.rule'],
  [{ backoff: 5_000 }, 'backoff'],
  [{ backoff: [429] }, 'backoff'],
  [{ backoff: { status: [429] } }, 'backoff.status'],
  [{ backoff: { statuses: 429 } }, 'backoff.statuses'],
  [{ backoff: { statuses: [429, 600] } }, 'backoff.statuses[1]'],
  [{ backoff: { statuses: ['429'] } }, 'backoff.statuses[0]'],
  [{ backoff: { firstMs: 0 } }, 'backoff.firstMs'],
  [{ backoff: { firstMs: 2_000, maxMs: 1_000 } }, 'backoff.firstMs'],
  [{ backoff: { maxMs: Number.POSITIVE_INFINITY } }, 'backoff.maxMs'],
  [{ backoff: { factor: 0.5 } }, 'backoff.factor'],
  [{ backoff: { jitter: 1.5 } }, 'backoff.jitter'],
  [{ backoff: { failures: 1 } }, 'backoff.failures'],
  [{ targetConcurrency: 1 }, 'targetConcurrency'],
  [{ pacer: {} }, 'pacer'],
  [{ rateLimitHeaders: true, pacer: Object.assign(new LocalPacer(), { pause: undefined }) }, 'rateLimitHeaders'],
  [{ countRobots: true, pacer: Object.assign(new LocalPacer(), { pause: undefined }) }, 'countRobots'],
  [{ pacer: null }, 'pacer'],
  [{ lookup: 'dns' }, 'lookup'],
  [{ maxConcurency: 8 }, 'maxConcurency'],
  [{ toString: 8 }, 'toString'],
])('PoliteGate and politely reject %o', (given, option) => {
  const errors = [
    optionError(() => new PoliteGate({ robots, ...given } as PoliteGateOptions)),
    optionError(() => politely(fetch, { userAgent: 'ExampleBot/1.0', ...given } as PolitelyOptions)),
  ]
  for (const error of errors) {
    expect(error).toMatchObject({ name: 'OptionError', code: 'ERR_POLITELY_OPTION', option })
    expect(error.message.startsWith(`${option}: `)).toBe(true)
  }
})

const wrong = <T>(value: unknown): T => value as T

test.each<[call: string, make: () => unknown, message: string]>([
  [
    'new PoliteGate()',
    () => new PoliteGate(wrong(undefined)),
    'options: is missing; expected an object such as { robots',
  ],
  ['new PoliteGate(robots)', () => new PoliteGate(wrong(robots)), 'write new PoliteGate({ robots })'],
  [
    'new PoliteGate({ userAgent })',
    () => new PoliteGate(wrong({ userAgent: 'ExampleBot/1.0' })),
    'robots: is missing; write { robots: new RobotsClient({ userAgent }) }',
  ],
  [
    'politely({ userAgent })',
    () => politely(wrong({}), wrong(undefined)),
    'fetch: an object is not a function; write pol',
  ],
  [
    'politely(fetch, { minDelayMS: 5 })',
    () => politely(fetch, wrong({ userAgent: 'ExampleBot/1.0', minDelayMS: 5 })),
    'minDelayMs',
  ],
  ['politely(fetch, { onDisalowed })', () => politely(fetch, wrong({ gate, onDisalowed: 'throw' })), 'onDisallowed'],
  [
    'politely(fetch, { robots, timeoutMs })',
    () => politely(fetch, wrong({ robots, timeoutMs: 5 })),
    'timeoutMs: has no effect beside `robots`; write it in new RobotsClient({ … })',
  ],
  ['politely(fetch, { robots: {} })', () => politely(fetch, wrong({ robots: {} })), 'an object is not a RobotsClient'],
  [
    'new PoliteGate({ robots, isRateLimited })',
    () => new PoliteGate(wrong({ robots, isRateLimited: () => true })),
    'isRateLimited: is an option of politely(fetch, { … }); without that fetch, report { rateLimited: true } to the permit of the request',
  ],
  [
    'politeAgent({ robots, onDisallowed })',
    () => politeAgent(wrong({ robots, onDisallowed: 'response' })),
    'onDisallowed: is an option of politely(fetch, { … })',
  ],
  [
    'politeAgent({ robots, requestTimeoutMs })',
    () => politeAgent(wrong({ robots, requestTimeoutMs: 30_000 })),
    'requestTimeoutMs: is an option of politely(fetch, { … }); of politeAgent write agent: { headersTimeout: 30_000',
  ],
  [
    'new RobotsClient({ requestTimeoutMs })',
    () => new RobotsClient(wrong({ userAgent: 'ExampleBot/1.0', requestTimeoutMs: 30_000 })),
    'requestTimeoutMs: is an option of politely(fetch, { … }), for pages; for robots.txt write timeoutMs',
  ],
  [
    'new PoliteGate({ robots, timeoutMs })',
    () => new PoliteGate(wrong({ robots, timeoutMs: 5 })),
    'timeoutMs: is an option of RobotsClient; write it in new RobotsClient({ … })',
  ],
  [
    'politely(fetch, { gate: politely(fetch) })',
    () => politely(fetch, wrong({ gate: politely(fetch, { gate }) })),
    'gate: a fetch with a gate is not a PoliteGate; write fetch.gate',
  ],
  [
    'politely(fetch, { gate: politeAgent() })',
    () => politely(fetch, wrong({ gate: politeAgent({ gate }) })),
    'gate: an object with a gate is not a PoliteGate; write agent.gate',
  ],
  [
    'new PoliteGate({ robots, delayFactor: 1000 })',
    () => new PoliteGate({ robots, delayFactor: 1000 }),
    'delayFactor: 1000 is out of range; expected a number from 0 to 100, such as 5',
  ],
  [
    'new PoliteGate({ robots, minDelayMs, maxDelayMs })',
    () => new PoliteGate({ robots, minDelayMs: 5_000, maxDelayMs: 1_000 }),
    'minDelayMs: 5000 is greater than maxDelayMs, which is 1000; write a smaller minDelayMs or a larger maxDelayMs',
  ],
  [
    'new PoliteGate({ robots, backoff: { statusses } })',
    () => new PoliteGate({ robots, backoff: wrong({ statusses: [429] }) }),
    'backoff.statusses: is an unknown option; did you mean `backoff.statuses`?',
  ],
  [
    'new PoliteGate({ robots, backoff: { firstMs, maxMs } })',
    () => new PoliteGate({ robots, backoff: { firstMs: 10_000, maxMs: 5_000 } }),
    'backoff.firstMs: 10000 is greater than backoff.maxMs, which is 5000; write a smaller firstMs or a larger maxMs',
  ],
  [
    'new PoliteGate({ robots, obey: false })',
    () => new PoliteGate({ robots, obey: wrong(false) }),
    'obey: false is not an object of options; expected one such as { rules: false }',
  ],
  [
    'new PoliteGate({ robots, jitter: 50 })',
    () => new PoliteGate({ robots, jitter: 50 }),
    'jitter: 50 is out of range; expected a number from 0 to 1, such as 0.5',
  ],
  [
    'new PoliteGate({ robots, pace: { minDelayMs } })',
    () => new PoliteGate({ robots, pace: wrong({ minDelayMs: 5 }) }),
    'pace: an object is not a function; expected a function such as (origin) =>',
  ],
  ['politeAgent()', () => politeAgent(wrong(undefined)), 'options: is missing'],
  [
    'politeAgent({ agent: new Agent() })',
    () => politeAgent(wrong({ gate, agent: new Agent() })),
    'agent: an object is not',
  ],
  [
    'politeAgent({ agent: { connections } })',
    () => politeAgent({ gate, agent: wrong({ connections: 1 }) }),
    'agent.connections',
  ],
  [
    'politeAgent({ agent: { pipelining: 8 } })',
    () => politeAgent({ gate, agent: { pipelining: 8 } }),
    'agent.pipelining',
  ],
  [
    'politeAgent({ agent: { connectTimout } })',
    () => politeAgent({ gate, agent: wrong({ connectTimout: 5 }) }),
    'agent.connectTimout: is an unknown option; did you mean `agent.connectTimeout`?',
  ],
  [
    'politeAgent({ agent: { allowH2: true } })',
    () => politeAgent({ gate, agent: wrong({ allowH2: true }) }),
    'agent.allowH2: HTTP/2 is not supported, because its requests share a connection',
  ],
  [
    'politeAgent({ agent: { h2Options } })',
    () => politeAgent({ gate, agent: wrong({ h2Options: {} }) }),
    'agent.h2Options: HTTP/2 is not supported',
  ],
  [
    'politeAgent({ agent: { connect: buildConnector() } })',
    () => politeAgent({ gate, agent: { connect: wrong(() => undefined) } }),
    'agent.connect: a function is not supported: the agent makes its connections itself',
  ],
  [
    'politeAgent({ agent: { connect: { rejectUnauthorised } } })',
    () => politeAgent({ gate, agent: { connect: wrong({ rejectUnauthorised: false }) } }),
    'did you mean `agent.connect.rejectUnauthorized`?',
  ],
  [
    'politeAgent({ agent: { connect: { lookup } } })',
    () => politeAgent({ gate, agent: { connect: wrong({ lookup: () => undefined }) } }),
    'agent.connect.lookup: write { lookup } next to `agent`',
  ],
  [
    'politeAgent({ agent: [] })',
    () => politeAgent({ gate, agent: wrong([]) }),
    'agent: an object of type Array is not an object of',
  ],
  ...(
    [
      ['keepAlive', 'is not an option of undici 8: connections are kept; pipelining: 0 closes them'],
      ['rejectUnauthorized', 'write connect: { rejectUnauthorized }'],
      ['lookup', 'write { lookup } next to `agent`'],
      ['maxRedirections', 'write maxRedirections next to `agent`'],
    ] as const
  ).map(([name, hint]): [string, () => unknown, string] => [
    `politeAgent({ agent: { ${name} } })`,
    () => politeAgent({ gate, agent: wrong({ [name]: true }) }),
    `agent.${name}: ${hint}`,
  ]),
  [
    'politeAgent({ agent: { factory } })',
    () => politeAgent({ gate, agent: wrong({ factory: () => undefined }) }),
    'agent.factory: the agent makes its connections itself',
  ],
  ['politeAgent({ maxRedirection })', () => politeAgent(wrong({ gate, maxRedirection: 5 })), 'maxRedirections'],
  [
    'politeInterceptor()',
    () => politeInterceptor(wrong(undefined)),
    'gate: undefined is not a PoliteGate; write new Pol',
  ],
  ['politeInterceptor({ userAgent })', () => politeInterceptor(wrong({ userAgent: 'ExampleBot' })), 'gate: an object'],
  ['politeHttpAgent()', () => politeHttpAgent(wrong(undefined), gate), 'agent: undefined is not an agent of node:http'],
  ['new PoliteGate(gate)', () => new PoliteGate(wrong(gate)), 'a PoliteGate was given instead of options'],
  [
    'politely(fetch, gate)',
    () => politely(fetch, wrong(gate)),
    'a PoliteGate was given instead of options; write { gate }',
  ],
  [
    'politely(fetch, robots)',
    () => politely(fetch, wrong(robots)),
    'a RobotsClient was given instead of options; write { r',
  ],
  ['politeAgent(gate)', () => politeAgent(wrong(gate)), 'a PoliteGate was given instead of options; write { gate }'],
  ['resolveGate(gate)', () => resolveGate(wrong(gate)), 'a PoliteGate was given instead of options; write { gate }'],
  [
    'new LocalPacer({ now })',
    () => new LocalPacer(wrong({ now: Date.now })),
    'now: an object is not a function; expected a function that returns milliseconds',
  ],
  [
    'refusalOf(promise)',
    () => refusalOf(Promise.resolve()),
    'response: an object of type Promise is not a response; write refusalOf(await',
  ],
  [
    'assertOwnHost(url, host)',
    () => assertOwnHost('https://example.com/', wrong('example.com')),
    'hostHeaders: is missing or',
  ],
])('%s says what to write', (_, make, message) => {
  expect(optionError(make).message).toContain(message)
})

test.each(Object.keys(PACING_OPTIONS))('new RobotsClient({ %s }) says that it is an option of the gate', (name) => {
  const make = () => new RobotsClient(wrong({ userAgent: 'ExampleBot/1.0', [name]: 5 }))
  expect(optionError(make).message).toContain(`${name}: is an option of the gate; write it in politely(`)
})

test('the client knows no other options of pace', () => {
  expect(Object.keys(OPTIONS_KNOWN_TO_CLIENT).toSorted()).toEqual(Object.keys(PACING_OPTIONS).toSorted())
})

test.each<[args: string, args: unknown[], message: string]>([
  ['', [], 'url: is missing; expected a string or a URL object, such as "https://example.com/page"'],
  [
    'url, signal',
    ['https://example.com/', AbortSignal.abort()],
    'options: an AbortSignal was given instead of options',
  ],
  ['url, 5', ['https://example.com/', 5], 'options: 5 is not an object; expected an object such as { signal }'],
  ['url, null', ['https://example.com/', null], 'options: null is not an object; expected'],
  ['url, { signal: {} }', ['https://example.com/', { signal: {} }], 'signal: has no method addEventListener; expected'],
  ['url, { signl }', ['https://example.com/', { signl: undefined }], 'signl: is an unknown option'],
])('enter, check and when reject (%s)', async (_, args, message) => {
  for (const call of [gate.enter, gate.check, gate.when] as ((...args: unknown[]) => Promise<unknown>)[]) {
    const error = await call.apply(gate, args).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OptionError)
    expect((error as Error).message).toContain(message)
  }
  expect(gate.queues()).toEqual([])
})

test.each<[name: string, make: (options: { robots: RobotsClient; minDelayMs: number }) => Made]>([
  ['politely', (options) => politely(fetch, options)],
  ['politeAgent', (options) => politeAgent(options)],
  ['resolveGate', (options) => resolveGate(options)],
])('%s shares a RobotsClient, which `close` leaves open', async (_, make) => {
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'public-only' })
  const made = make({ robots: client, minDelayMs: 0 })
  expect(made.gate.robots).toBe(client)
  await made.close()
  await expect(made.gate.enter('https://example.com/')).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  expect(await client.isAllowed('http://127.0.0.1/')).toBe(false)
  await client.close()
})

interface Made {
  readonly gate: PoliteGate
  close(): Promise<void>
}

test.each<[name: string, make: () => unknown, option: string]>([
  ['missing robots', () => new PoliteGate({} as PoliteGateOptions), 'robots'],
  ['robots of another type', () => new PoliteGate({ robots: {} as RobotsClient }), 'robots'],
  ['an invalid clock', () => new PoliteGate({ robots, now: 5 as unknown as () => number }), 'now'],
  ['a missing fetch', () => politely(undefined as unknown as typeof fetch, { gate }), 'fetch'],
  ['missing options', () => politely(fetch, undefined as unknown as PolitelyOptions), 'options'],
  ['a missing userAgent', () => politely(fetch, {} as PolitelyOptions), 'userAgent'],
  ['an invalid gate', () => politely(fetch, { gate: {} as PoliteGate }), 'gate'],
  ['a gate that is undefined', () => politely(fetch, { gate: undefined as unknown as PoliteGate }), 'gate'],
  ['minDelayMs beside gate', () => politely(fetch, { gate, minDelayMs: 5 }), 'minDelayMs'],
  ['requestTimeoutMs in words', () => politely(fetch, { gate, requestTimeoutMs: wrong('30 s') }), 'requestTimeoutMs'],
  ['requestTimeoutMs: 0', () => politely(fetch, { gate, requestTimeoutMs: 0 }), 'requestTimeoutMs'],
  ['an unknown onDisallowed', () => politely(fetch, { gate, onDisallowed: 'no' as 'throw' }), 'onDisallowed'],
  ['userAgent beside gate', () => politely(fetch, { gate, userAgent: 'OtherBot' }), 'userAgent'],
])('rejects %s', (_, make, option) => {
  expect(optionError(make)).toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
})

test.each([
  { minDelayMs: 0 },
  { minDelayMs: 0.5, maxDelayMs: 0.5 },
  { maxDelayMs: 0 },
  { minDelayMs: undefined, maxDelayMs: undefined, maxConcurrent: undefined, maxConcurrentPerKey: undefined },
  { maxDelayMs: Number.POSITIVE_INFINITY },
  { maxConcurrent: 1, maxConcurrentPerKey: 1 },
  { slowAfterMs: Number.POSITIVE_INFINITY },
  { now: () => 0 },
  { paceBy: 'address' as const, lookup: () => {} },
  { pacer: new LocalPacer(() => 0) },
])('PoliteGate accepts %o', (given) => {
  expect(new PoliteGate({ robots, ...given }).robots).toBe(robots)
})

test('passes the clock of politely to the gate', async () => {
  let seconds = 0
  const nowhere = await holdRefusingPort()
  onTestFinished(() => nowhere.close())
  const polite = politely(fetch, { userAgent: 'ExampleBot/1.0', retries: 0, now: () => ++seconds * 1_000 })
  const permit = await polite.gate.enter(`http://127.0.0.1:${nowhere.port}/robots.txt`)
  const { oldestPermitMs } = polite.gate.gauges
  expect(oldestPermitMs).toBeGreaterThanOrEqual(1_000)
  expect(oldestPermitMs % 1_000).toBe(0)
  permit.release()
  await polite.close()
})

test('refuses a host at a blocked address, also for /robots.txt', async () => {
  const polite = politely(fetch, { userAgent: 'ExampleBot/1.0', network: 'public-only' })
  for (const path of ['robots.txt', 'page']) {
    const url = `http://127.0.0.1/${path}`
    await expect(polite.gate.enter(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(await polite.gate.when(url)).toMatchObject({ allowed: false, verdict: { because: 'unreachable' } })
    await expect(polite(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  }
  await polite.close()
})

test('types: returns the type of the given fetch, with gate and close', async () => {
  const polite = politely(globalThis.fetch, { gate })
  expectTypeOf(polite).toExtend<typeof globalThis.fetch>()
  expectTypeOf<Parameters<typeof polite>>().toEqualTypeOf<Parameters<typeof globalThis.fetch>>()
  expectTypeOf(polite).toBeCallableWith('https://example.com/', { method: 'POST', redirectedFrom: ['https://a.test/'] })
  // @ts-expect-error A misspelt option.
  expectTypeOf(polite).toBeCallableWith('https://example.com/', { redirectFrom: [] })
  expectTypeOf(polite).returns.toEqualTypeOf<Promise<Response>>()
  expectTypeOf(polite.gate).toEqualTypeOf<PoliteGate>()
  expectTypeOf(polite.close).toEqualTypeOf<() => Promise<void>>()
  expectTypeOf(polite).toExtend<AsyncDisposable>()

  const undici = await import('undici')
  const other = politely(undici.fetch, { gate })
  expectTypeOf(other).toExtend<typeof undici.fetch>()
  expectTypeOf(other).returns.toEqualTypeOf<Promise<import('undici').Response>>()
  expectTypeOf(other).toBeCallableWith('https://example.com/', { redirectedFrom: ['https://a.test/'] })

  const yours = async (url: string, init?: { signal?: AbortSignal }) => new Response(`${url} ${init}`)
  const wrapped = politely(yours, { gate })
  expectTypeOf<Parameters<typeof wrapped>>().toEqualTypeOf<Parameters<typeof yours>>()

  // @ts-expect-error A function that does not return a Response is not a fetch.
  politely(async (url: string) => url, { gate })
  // @ts-expect-error Either a gate or a userAgent is required.
  expect(() => politely(globalThis.fetch, {})).toThrow(OptionError)
})

test('the defaults of `backoff` adapt to the other values', () => {
  const { backoff } = pacingOf({})
  expect(backoff).toEqual({
    statuses: [429, 430, 503, 529],
    firstMs: 5_000,
    maxMs: 300_000,
    factor: 2,
    jitter: 0,
    failures: false,
  })
  expect(pacingOf({ backoff: { maxMs: 1_000 } }).backoff).toMatchObject({ firstMs: 1_000, maxMs: 1_000 })
  expect(pacingOf({ backoff: { firstMs: 400_000 } }).backoff).toMatchObject({ firstMs: 400_000, maxMs: 400_000 })
})
