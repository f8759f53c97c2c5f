// The constructor rejects invalid options, and the error names the option. Our choice.
import { Keyv } from 'keyv'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  dnsLookup,
  MemoryStore,
  NetworkGuard,
  OptionError,
  RobotsClient,
  type RobotsClientOptions,
} from '../src/index.ts'

const userAgent = 'ExampleBot/1.0'

/** Like a caller without TypeScript. */
const construct = (options: unknown) => new RobotsClient(options as RobotsClientOptions)

test.for([
  ['userAgent', { userAgent: undefined }],
  ['userAgent', { userAgent: '' }],
  ['userAgent', { userAgent: ' \t' }],
  ['userAgent', { userAgent: 42 }],
  ['userAgent', { userAgent: 'ExampleBot/1.0\nCookie: x' }],
  ['userAgent', { userAgent: 'ExampleBot/1.0\r' }],
  ['userAgent', { userAgent: 'BücherBot/1.0' }],
  ['userAgent', { userAgent: '(+https://example.com/bot)' }],
  ['userAgent', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0' }],
  ['userAgent', { userAgent: 'Bücher', productToken: 'ExampleBot' }],
  ['productToken', { productToken: '' }],
  ['productToken', { productToken: 'a b' }],
  ['productToken', { productToken: 'ExampleBot/1.0' }],
  ['productToken', { productToken: '*' }],
  ['productToken', { productToken: [] }],
  ['productToken', { productToken: ['ExampleBot', 'a b'] }],
  ['productToken', { productToken: 42 }],
  ['dialect', { dialect: 'bing' }],
  ['dialect', { dialect: 'toString' }],
  ['ttlMs', { ttlMs: -1 }],
  ['ttlMs', { ttlMs: '1000' }],
  ['ttlMs', { ttlMs: Number.NaN }],
  ['ttlMs', { ttlMs: Number.POSITIVE_INFINITY }],
  ['minTtlMs', { minTtlMs: -1 }],
  ['minTtlMs', { minTtlMs: 2, maxTtlMs: 1 }],
  ['minTtlMs', { minTtlMs: 8 * 86_400_000 }],
  ['maxTtlMs', { maxTtlMs: Number.POSITIVE_INFINITY }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
  ['timeoutMs', { timeoutMs: 2 ** 31 }],
  ['retries', { retries: -1 }],
  ['retries', { retries: 1.5 }],
  ['retries', { retries: 21 }],
  ['maxRedirects', { maxRedirects: -1 }],
  ['maxRedirects', { maxRedirects: 51 }],
  ['maxBodyBytes', { maxBodyBytes: 100 }],
  ['maxBodyBytes', { maxBodyBytes: 511_999 }],
  ['maxBodyBytes', { maxBodyBytes: 512_000.5 }],
  ['maxCacheBytes', { maxCacheBytes: 0 }],
  ['maxCacheBytes', { maxCacheBytes: Number.POSITIVE_INFINITY }],
  ['whenUnreachable', { whenUnreachable: 'allow' }],
  ['whenUnreachable', { whenUnreachable: true }],
  ['afterDays', { afterDays: -1 }],
  ['afterDays', { afterDays: Number.NaN }],
  ['thenAssume', { thenAssume: 'allowed' }],
  ['network', { network: 'off' }],
  ['network', { network: {} }],
  ['dispatcher', { dispatcher: {} }],
  ['dispatcher', { dispatcher: () => undefined }],
  ['robotsVia', { robotsVia: 'proxy' }],
  ['httpCaches', { httpCaches: 'no-cache' }],
  ['robotsVia', { robotsVia: 'own', fetch }],
  ['robotsVia', { robotsVia: 'pages', dispatcher: { dispatch: () => true } }],
  ['lookup', { lookup: 5 }],
  ['lookup', { lookup: {} }],
  ['sign', { sign: {} }],
  ['sign', { sign: { sign: () => undefined } }],
  ['signal', { signal: {} }],
  ['signal', { signal: new AbortController() }],
  ['now', { now: 5 }],
  ['store', { store: {} }],
  ['store', { store: { get: () => undefined, set: () => undefined } }],
  ['store', { store: 'redis://localhost' }],
  ['refreshAheadMs', { refreshAheadMs: -1 }],
  ['refreshAheadMs', { refreshAheadMs: Number.POSITIVE_INFINITY }],
  ['maxFlights', { maxFlights: 0 }],
  ['maxFlights', { maxFlights: 1.5 }],
  ['maxFlightsPerDomain', { maxFlightsPerDomain: 0 }],
  ['logger', { logger: 'debug' }],
  ['logger', { logger: () => undefined }],
  ['timeout', { timeout: 5_000 }],
  ['useragent', { useragent: 'x' }],
  ['toString', { toString: 'x' }],
] as const)('%s: %o', ([option, given]) => {
  const construction = () => construct({ userAgent, ...given })
  expect(construction).toThrow(OptionError)
  expect(construction).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }))
  expect(construction).toThrow(new RegExp(`^${option}: .{10,}`))
})

test.for([undefined, null, userAgent])('options: %s', (options) => {
  expect(() => construct(options)).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'options' }))
})

test.for([
  [
    'userAgent',
    { userAgent: 'My Crawler/1.0' },
    '"My Crawler/1.0" contains no clear product token: it may be "My" or "My Crawler", and a product token has no blanks; write the name to look for in robots.txt as productToken, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0',
  ],
  ['retries', { retries: -5 }, '-5 is out of range; expected a whole number from 0 to 20, such as 1'],
  ['retries', { retries: 1.5 }, '1.5 is not a whole number; expected a whole number from 0 to 20, such as 1'],
  ['ttlMs', { ttlMs: -5 }, '-5 is out of range; expected a number of milliseconds from 0, such as 1000'],
  ['ttlMs', { ttlMs: '1h' }, '"1h" is not a number; expected a number of milliseconds from 0, such as 1000'],
  ['afterDays', { afterDays: -1 }, '-1 is out of range; expected a number of days from 0, or Infinity, such as 1'],
  [
    'maxBodyBytes',
    { maxBodyBytes: 100 },
    '100 is out of range; expected a whole number of bytes from 512000 to 268435456, such as 512000',
  ],
  ['thenAssume', { thenAssume: 'allowed' }, '"allowed" is not known; expected one of copy, unavailable'],
  ['lookup', { lookup: 5 }, '5 is not a function; expected a function like dns.lookup'],
  ['store', { store: { get: () => undefined } }, 'has no method set; expected a Store, with get, set and delete'],
  [
    'store',
    { store: './robots.sqlite' },
    '"./robots.sqlite" is not an object; expected a Store, such as new SqliteStore({ path: "robots.sqlite" }) of @politely/sqlite',
  ],
  ['store', { store: new Keyv() }, 'a Keyv is not a Store; write fromKeyv(keyv)'],
  [
    'minDelayMs',
    { minDelayMs: 1000 },
    'is an option of the gate; write it in politely(fetch, { … }) or new PoliteGate({ robots, … })',
  ],
  [
    'logger',
    { logger: 'debug' },
    '"debug" is not an object; expected an object with debug, info or warn, such as console',
  ],
  ['allowAddresses', { allowAddresses: '::1' }, '"::1" is not a list; expected addresses and blocks such as'],
  ['minTtlMs', { minTtlMs: 2, maxTtlMs: 1 }, '2 is greater than maxTtlMs, which is 1; write a smaller minTtlMs'],
  ['signal', { signal: new AbortController() }, 'an AbortController is not an AbortSignal; write controller.signal'],
  ['timeoutM', { timeoutM: 5_000 }, 'is an unknown option; did you mean `timeoutMs`?'],
  ['useragent', { useragent: 'x' }, 'is an unknown option; did you mean `userAgent`?'],
  [
    'maxBytes',
    { maxBytes: 5 },
    'is an unknown option; did you mean `maxBodyBytes`? (for robots.txt; pages have no limit)',
  ],
  [
    'toString',
    { toString: 'x' },
    'is an unknown option; https://github.com/politely-crawler/politely/blob/main/docs/options.md lists',
  ],
] as const)('says what is wrong and what was expected: %s, %o', ([option, given, message]) => {
  expect(() => construct({ userAgent, ...given })).toThrow(`${option}: ${message}`)
})

// Values that JSON cannot represent, and invalid members of lists.
test.for([
  ['retries', { retries: 10n }],
  ['dialect', { dialect: 10n }],
  ['productToken', { productToken: 10n }],
  ['productToken', { productToken: [42] }],
  ['productToken', { productToken: [null] }],
  ['productToken', { productToken: [undefined] }],
] as const)('%s: %o', ([option, given]) => {
  expect(() => construct({ userAgent, ...given })).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
  )
})

test.for<Partial<RobotsClientOptions>>([
  {},
  { userAgent: ' ExampleBot/1.0 ' },
  { userAgent: 'Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)' },
  { userAgent: '(+https://example.com/bot)', productToken: 'ExampleBot' },
  { productToken: 'MJ12bot' },
  { productToken: ['Googlebot-News', 'Googlebot_x'] },
  { ttlMs: 0, minTtlMs: 0, maxTtlMs: 0 },
  { afterDays: 0 },
  { afterDays: Number.POSITIVE_INFINITY },
  { retries: 0, maxRedirects: 0 },
  { retries: 20, maxRedirects: 50, timeoutMs: 2 ** 31 - 1 },
  { maxBodyBytes: 512_000, maxCacheBytes: 1 },
  { maxFlights: 1, maxFlightsPerDomain: 1, refreshAheadMs: 0 },
  { logger: console },
  { logger: {} },
  {
    productToken: undefined,
    retries: undefined,
    store: undefined,
    fetch: undefined,
    signal: undefined,
    now: undefined,
  },
])('accepts %o', async (given) => {
  const client = construct({ userAgent, ...given })
  expect(client.userAgent).toBe((given.userAgent ?? userAgent).trim())
  await client.close()
})

test('copies the list of product tokens', async () => {
  const productToken = ['ExampleBot']
  const client = construct({ userAgent, productToken })
  productToken[0] = 'a b'
  expect(client.productTokens).toEqual(['ExampleBot'])
  await client.close()
})

// The type of a client for a caller without TypeScript.
type AnyClient = Record<string, (...args: unknown[]) => unknown>
const url = 'https://a.test/page'
const { signal } = new AbortController()

test.for<[name: string, call: (client: AnyClient) => unknown, message: string]>([
  ['isAllowed()', (client) => client.isAllowed?.(), 'url: is missing; expected a string or a URL object'],
  ['check()', (client) => client.check?.(), 'url: is missing; expected a string or a URL object'],
  ['check(null)', (client) => client.check?.(null), 'url: null is not a URL; expected a string or a URL object'],
  ['check(42)', (client) => client.check?.(42), 'url: 42 is not a URL; expected a string or a URL object'],
  ['check(request)', (client) => client.check?.(new Request(url)), 'url: a Request has no href; write request.url'],
  ['check(response)', (client) => client.check?.(new Response()), 'url: a Response has no href; write response.url'],
  ['isAllowed(request)', (client) => client.isAllowed?.(new Request(url)), 'url: a Request has no href'],
  ['checkNow()', (client) => client.checkNow?.(), 'url: is missing'],
  ['inspect([url])', (client) => client.inspect?.([url]), 'url: an object of type Array is not a URL'],
  ['explain()', (client) => client.explain?.(), 'url: is missing'],
  ['sitemaps()', (client) => client.sitemaps?.(), 'url: is missing'],
  ['robots(7)', (client) => client.robots?.(7), 'url: 7 is not a URL'],
  [
    'sitemaps of a link to a mailbox',
    (client) => client.sitemaps?.('mailto:a@a.test'),
    'url: "mailto:a@a.test": only http',
  ],
  [
    'check(url, signal)',
    (client) => client.check?.(url, signal),
    'options: an AbortSignal is not an object of options; write { signal }',
  ],
  ['isAllowed(url, signal)', (client) => client.isAllowed?.(url, signal), 'options: an AbortSignal is not an object'],
  [
    'isAllowed(url, 0)',
    (client) => client.isAllowed?.(url, 0),
    'options: 0 is not an object; expected an object such as { signal }',
  ],
  [
    "isAllowed(url, 'ExampleBot')",
    (client) => client.isAllowed?.(url, 'ExampleBot'),
    'options: "ExampleBot" is not an object; the name of the crawler is the userAgent of new RobotsClient({ userAgent })',
  ],
  [
    "isAllowed(url, { redirectedFrom: ['/page'] })",
    (client) => client.isAllowed?.(url, { redirectedFrom: ['/page'] }),
    'redirectedFrom[0]: "/page" is not an absolute URL',
  ],
  [
    'checkNow(url, { maxAgeMs })',
    (client) => client.checkNow?.(url, { maxAgeMs: 5 }),
    'maxAgeMs: is an unknown option; expected one of redirectedFrom',
  ],
  [
    'checkMany([url], { redirectedFrom: page })',
    (client) => client.checkMany?.([url], { redirectedFrom: url }),
    'redirectedFrom: "https://a.test/page" is not a list',
  ],
  [
    'isAllowed(url, { signal: controller })',
    (client) => client.isAllowed?.(url, { signal: new AbortController() }),
    'signal: an AbortController is not an AbortSignal; write controller.signal',
  ],
  [
    'checkMany(promise)',
    (client) => client.checkMany?.(Promise.resolve([url])),
    'urls: an object of type Promise is not an iterable',
  ],
  ['check(url, null)', (client) => client.check?.(url, null), 'options: null is not an object'],
  [
    'check(url, { signal: controller })',
    (client) => client.check?.(url, { signal: new AbortController() }),
    'signal: an AbortController is not an AbortSignal; write controller.signal',
  ],
  [
    'check(url, { signal: new EventTarget() })',
    (client) => client.check?.(url, { signal: new EventTarget() }),
    'signal: an object of type EventTarget is not an AbortSignal; write controller.signal',
  ],
  ['import([1])', (client) => client.import?.([1]), 'chunks: 1 is in it; expected strings or Uint8Arrays'],
  [
    'check(url, { singal })',
    (client) => client.check?.(url, { singal: signal }),
    'singal: is an unknown option; did you mean `signal`?',
  ],
  [
    "check(url, { redirectedFrom: ['/page'] })",
    (client) => client.check?.(url, { redirectedFrom: [url, '/page'] }),
    'redirectedFrom[1]: "/page" is not an absolute URL',
  ],
  [
    'check(url, { redirectedFrom: url })',
    (client) => client.check?.(url, { redirectedFrom: url }),
    'redirectedFrom: "https://a.test/page" is not a list',
  ],
  ['explain(url, signal)', (client) => client.explain?.(url, signal), 'options: an AbortSignal'],
  [
    'robots(url, { timeoutMs })',
    (client) => client.robots?.(url, { timeoutMs: 5 }),
    'timeoutMs: is an unknown option; did you mean `signal`? (such as AbortSignal.timeout(20_000))',
  ],
  ['checkMany()', (client) => client.checkMany?.(), 'urls: is missing; expected an iterable such as [url]'],
  [
    'checkMany(url)',
    (client) => client.checkMany?.(url),
    'urls: a single string was given; expected an iterable such as [url]',
  ],
  ['checkMany(42)', (client) => client.checkMany?.(42), 'urls: 42 is not an iterable; expected one such as [url]'],
  [
    'checkMany([url], { concurency })',
    (client) => client.checkMany?.([url], { concurency: 2 }),
    'concurency: is an unknown option; did you mean `concurrency`?',
  ],
  ['checkMany([url], signal)', (client) => client.checkMany?.([url], signal), 'options: an AbortSignal'],
  ['prefetch(url)', (client) => client.prefetch?.(url), 'urls: a single string was given'],
  ['prefetch([42])', (client) => client.prefetch?.([42]), 'url: 42 is not a URL'],
  [
    'prefetch([url], { order })',
    (client) => client.prefetch?.([url], { order: 'input' }),
    'order: is an unknown option',
  ],
  ['import()', (client) => client.import?.(), 'chunks: is missing; expected an iterable such as [text], or a stream'],
  ['import(text)', (client) => client.import?.('{}'), 'chunks: a single string was given'],
  ['import(bytes)', (client) => client.import?.(Buffer.from('{}')), 'chunks: a single Uint8Array was given'],
  ['new MemoryStore(null)', () => new MemoryStore(null as never), 'options: null is not an object'],
  [
    'new MemoryStore({ maxByte })',
    () => new MemoryStore({ maxByte: 1 } as never),
    'maxByte: is an unknown option; did you mean `maxBytes`?',
  ],
  [
    'new NetworkGuard({ netwrok })',
    () => new NetworkGuard({ netwrok: 'any' } as never),
    'netwrok: is an unknown option; did you mean `network`?',
  ],
  [
    'dnsLookup({ server })',
    () => dnsLookup({ server: [] } as never),
    'server: is an unknown option; did you mean `servers`?',
  ],
])('%s', async ([, call, message]) => {
  const client = construct({ userAgent, fetch: async () => new Response('') })
  onTestFinished(() => client.close())
  for (const memory of ['without the rules in memory', 'with them']) {
    const error = await (async () => call(client as unknown as AnyClient))().catch((reason: unknown) => reason)
    expect(error, memory).toBeInstanceOf(OptionError)
    expect((error as OptionError).message, memory).toContain(message)
    await client.isAllowed(url)
  }
})

test('an aborted signal rejects isAllowed, with and without the rules in memory', async () => {
  const client = construct({ userAgent, fetch: async () => new Response('') })
  onTestFinished(() => client.close())
  const reason = new Error('no longer needed')
  const options = { signal: AbortSignal.abort(reason) }
  for (let i = 0; i < 2; i++) {
    await expect(client.isAllowed(url, options)).rejects.toBe(reason)
    expect(await client.isAllowed(url)).toBe(true)
  }
})

test('warns once of a timeoutMs that was probably meant in seconds', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  for (const timeoutMs of [100, 20, 20]) construct({ userAgent, timeoutMs })
  expect(warn.mock.calls).toEqual([
    [
      'timeoutMs: 20 is a time in milliseconds, so most sites will be unreachable; write timeoutMs: 20000 for 20 seconds',
      { type: 'PolitelyWarning', code: 'POLITELY_TIMEOUT' },
    ],
  ])
})

test.for([
  [{ userAgent }, 'robots.txt is read for ExampleBot (the name comes from the option userAgent)'],
  [
    { userAgent, productToken: ['ExampleBot-News', 'ExampleBot'] },
    'robots.txt is read for ExampleBot-News, else ExampleBot (the name comes from the option productToken)',
  ],
] as const)('logs the product tokens, and the option that they come from: %o', async ([given, line]) => {
  const lines: string[] = []
  const client = construct({ ...given, logger: { info: (text: string) => lines.push(text) } })
  onTestFinished(() => client.close())
  expect(lines).toEqual([line])
})

test.for([
  ['warns', { userAgent: 'Mozilla/5.0 (X11)', productToken: 'ExampleBot' }, 1],
  ['warns once', { userAgent: 'Mozilla/5.0 (X11)', productToken: ['ExampleBot', 'OtherBot'] }, 1],
  ['does not warn', { userAgent: 'Mozilla/5.0 (compatible; examplebot/1.0)', productToken: 'ExampleBot' }, 0],
  ['does not warn', { userAgent, productToken: ['ExampleBot-News', 'ExampleBot'] }, 0],
] as const)('RFC 9309 §2.2.1, %s about a product token that is not in the User-Agent: %o', async ([, given, count]) => {
  const lines: string[] = []
  const client = construct({ ...given, logger: { warn: (line: string) => lines.push(line) } })
  onTestFinished(() => client.close())
  expect(lines).toHaveLength(count)
  for (const line of lines)
    expect(line).toMatch(/^productToken: .*"Mozilla.*does not contain ExampleBot.*ExampleBot\/1\.0/)
})
