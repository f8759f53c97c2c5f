// The constructor rejects invalid options, and the error names the option. Our choice.
import { OptionError } from '@politely/core'
import { expect, test } from 'vitest'
import { RobotsClient, type RobotsClientOptions } from '../src/index.ts'

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
  ['lookup', { lookup: 5 }],
  ['lookup', { lookup: {} }],
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
    'logger',
    { logger: 'debug' },
    '"debug" is not an object; expected an object with debug, info or warn, such as console',
  ],
  ['allowAddresses', { allowAddresses: '::1' }, '"::1" is not a list; expected addresses and blocks such as'],
  ['minTtlMs', { minTtlMs: 2, maxTtlMs: 1 }, '2 is greater than maxTtlMs, which is 1; write a smaller minTtlMs'],
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
