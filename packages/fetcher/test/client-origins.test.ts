// Which robots.txt the client fetches, and for which crawler. RFC 9309 §2.3 and §2.2.1.

import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import { Agent, buildConnector } from 'undici'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'

test.for<readonly [name: string, url: string]>([
  ['RFC 3986 §3.2.2, in any case', 'http://A.TEST:PORT/page'],
  ['our choice, userinfo', 'http://me:secret@a.test:PORT/page'],
  ['our choice, fragment', 'http://a.test:PORT/page#here'],
  ['WHATWG URL, dot segments', 'http://a.test:PORT/x/../page'],
  ['RFC 9309 §2.3, another page', 'http://a.test:PORT/other?q'],
])('one origin, one request: %s', async ([, url], { sites, newClient }) => {
  const client = newClient()
  await client.check(sites.withPort(checkedPage))
  await client.check(sites.withPort(url))
  expect(sites.requestedUrls).toEqual([ROBOTS])
})

test('Google, an internationalised name and its A-label are one origin with one request', async ({
  sites,
  newClient,
}) => {
  sites.respond('http://xn--bcher-kva.test:PORT/robots.txt', { status: 200, body: disallowsPage })
  const client = newClient()
  for (const host of ['bücher.test', 'xn--bcher-kva.test', 'BÜCHER.TEST', 'b%C3%BCcher.test']) {
    const verdict = await client.check(sites.withPort(`http://${host}:PORT/page`))
    expect(verdict).toMatchObject({ allowed: false, origin: sites.withPort('http://xn--bcher-kva.test:PORT') })
  }
  expect(sites.requestedUrls).toEqual(['http://xn--bcher-kva.test:PORT/robots.txt'])
})

test('RFC 9309 §2.3, another host is another origin', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 200, body: disallowsPage })
  const client = newClient()
  expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
  expect(await client.isAllowed(sites.withPort('http://b.test:PORT/page'))).toBe(true)
  expect(await client.isAllowed(sites.withPort('http://www.a.test:PORT/page'))).toBe(true)
  expect(sites.requestedUrls).toEqual([ROBOTS, 'http://b.test:PORT/robots.txt', 'http://www.a.test:PORT/robots.txt'])
})

test('RFC 9309 §2.3, another port, and another scheme, is another origin', async ({
  sites,
  newClient,
  onTestFinished,
}) => {
  const certificate = selfSigned('a.test')
  const [otherPort, secure] = await Promise.all([startSites(), startSites({ certificate })])
  onTestFinished(async () => void (await Promise.all([otherPort.close(), secure.close()])))
  const dispatcher = new Agent({ connect: { lookup: lookupIn(), ca: certificate.cert } })
  onTestFinished(() => dispatcher.destroy())
  sites.respond(ROBOTS, { status: 200, body: disallowsPage })
  const client = newClient({ dispatcher })

  expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
  expect(await client.isAllowed(otherPort.withPort(checkedPage))).toBe(true)
  expect(await client.isAllowed(secure.withPort('https://a.test:PORT/page'))).toBe(true)
  expect([sites.requestedUrls, otherPort.requestedUrls, secure.requestedUrls]).toEqual([
    [ROBOTS],
    [ROBOTS],
    ['https://a.test:PORT/robots.txt'],
  ])
})

test('our choice, check accepts any object with an href', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 200, body: disallowsPage })
  const url = new URL(sites.withPort(checkedPage))
  expect(await newClient().check(url)).toMatchObject({ url: url.href, allowed: false, because: 'rule' })
})

test('RFC 9309 §2.3, a cached origin applies to its own URLs in any spelling, and to no others', async ({
  sites,
  newClient,
}) => {
  sites.respond(ROBOTS, { status: 200, body: disallowsPage })
  const client = newClient()
  await client.prefetch([sites.withPort(checkedPage)])
  const expected = {
    'http://a.test:PORT/page': false,
    'http://a.test:PORT/other/page': true,
    'http://a.test:PORT/other/../page': false,
    'http://a.test:PORT\\page': false,
    'http:/a.test:PORT/page': false,
    'http://a.test:\tPORT/page': false,
    'http://me@a.test:PORT/page': false,
    'http://a.test:PORT': true,
    'http://a.test:PORT?/page': true,
    'http://a.test:PORT1': false, // not a valid port
    'http://a.test:PORT@b.test:PORT/page': true,
    'http://b.test:PORT/page': true,
    'http://b.test:PORT/http://a.test:PORT/page': true,
    'http://a.test.b.test:PORT/page': true,
  }
  for (const turn of ['one after the other', 'each after one that is known']) {
    for (const [url, allowed] of Object.entries(expected)) {
      if (turn !== 'one after the other') expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
      expect(await client.isAllowed(sites.withPort(url)), url).toBe(allowed)
      expect(await client.check(sites.withPort(url)), url).toMatchObject({ allowed })
    }
  }
  expect(sites.requestedUrls).toEqual([ROBOTS, 'http://b.test:PORT/robots.txt', 'http://a.test.b.test:PORT/robots.txt'])
})

test('RFC 9309 §2.3, a host that begins like a cached one is another origin, even without a path', async ({
  sites,
  newClient,
  onTestFinished,
}) => {
  const connect = buildConnector({})
  const { port } = new URL(sites.withPort(checkedPage))
  // Connects every host on port 80 to the test's server.
  const dispatcher = new Agent({
    connect: (target, callback) => connect({ ...target, hostname: '127.0.0.1', port }, callback),
  })
  onTestFinished(() => dispatcher.destroy())
  sites.respond('http://a.tes/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /' })
  const client = newClient({ dispatcher })
  for (const turn of ['new', 'known']) {
    expect(await client.isAllowed('http://a.tes/'), turn).toBe(false)
    expect(await client.isAllowed('http://a.test'), turn).toBe(true)
    expect(await client.isAllowed('http://a.tes'), turn).toBe(false)
  }
  expect(sites.requestedUrls).toEqual(['http://a.tes/robots.txt', 'http://a.test/robots.txt'])
})

test('our choice, an invalid argument rejects the promise, and is never thrown synchronously', async ({
  newClient,
}) => {
  const client = newClient()
  for (const nothing of [undefined, null, 7] as unknown as string[]) {
    const answers = [client.isAllowed(nothing), client.check(nothing)]
    for (const answer of answers) await expect(answer).rejects.toBeInstanceOf(TypeError)
  }
})

test('RFC 9309 §2.2.2, robots.txt itself is allowed, even if it is unreachable', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 503 })
  const client = newClient()
  expect(await client.check(sites.withPort(ROBOTS))).toMatchObject({ allowed: true, because: 'robots-txt-itself' })
  expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ allowed: false, because: 'unreachable' })
})

const GROUPS =
  'User-agent: ExampleBot\nDisallow: /example\n\nUser-agent: Other\nDisallow: /other\n\nUser-agent: *\nDisallow: /all\n'
test.for([
  [
    'the token comes from the User-Agent',
    { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' },
    ['ExampleBot'],
    '/example',
  ],
  [
    'the token comes from a browser-like User-Agent',
    { userAgent: 'Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)' },
    ['ExampleBot'],
    '/example',
  ],
  ['or given', { userAgent: 'ExampleBot/1.0', productToken: 'Other' }, ['Other'], '/other'],
  [
    'of several tokens, the first with a group counts',
    { userAgent: 'x/1', productToken: ['Nobody', 'Other', 'ExampleBot'] },
    ['Nobody', 'Other', 'ExampleBot'],
    '/other',
  ],
  ['without one, those for everyone', { userAgent: 'Nobody/1.0' }, ['Nobody'], '/all'],
] as const)('RFC 9309 §2.2.1, whose rules: %s', async ([, options, tokens, forbidden], { sites, newClient }) => {
  sites.respond(ROBOTS, { status: 200, body: GROUPS })
  const client = newClient(options)
  expect(client.productTokens).toEqual(tokens)
  expect(client.userAgent).toBe(options.userAgent)
  const paths = ['/example', '/other', '/all']
  const allowed = await Promise.all(paths.map((path) => client.isAllowed(sites.withPort(`http://a.test:PORT${path}`))))
  expect(allowed).toEqual(paths.map((path) => path !== forbidden))
})

test('our choice, the dialect applies: in google, the rules decide about robots.txt itself', async ({
  sites,
  newClient,
}) => {
  sites.respond(ROBOTS, { status: 200, body: 'User-agent: *\nDisallow: /' })
  expect(await newClient({ dialect: 'google' }).isAllowed(sites.withPort(ROBOTS))).toBe(false)
  expect(await newClient({ dialect: 'rfc9309' }).isAllowed(sites.withPort(ROBOTS))).toBe(true)
})

test('our choice, the verdict contains the crawl-delay', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 200, body: 'User-agent: *\nCrawl-delay: 2.5\n' })
  const client = newClient()
  expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ crawlDelayMs: 2_500 })
  expect(await client.check(sites.withPort('http://b.test:PORT/page'))).toMatchObject({ crawlDelayMs: undefined })
})

test('our choice, the verdict contains request rates and visit times, if there are any', async ({
  sites,
  newClient,
}) => {
  const lines = 'User-agent: *\nRequest-rate: 1/10s 1800-1900\nVisit-time: 0600-0845\n'
  sites.respond(ROBOTS, { status: 200, body: lines })
  const client = newClient()
  expect(await client.check(sites.withPort(checkedPage))).toMatchObject({
    requestRates: [{ requests: 1, periodMs: 10_000, between: { from: 1080, to: 1140 } }],
    visitTimes: [{ from: 360, to: 525 }],
  })
  const nothing = { requestRates: undefined, visitTimes: undefined }
  expect(await client.check(sites.withPort('http://b.test:PORT/page'))).toMatchObject(nothing)
})

test('our choice, a verdict is JSON-safe', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 301, headers: { location: 'http://b.test:PORT/robots.txt' } })
  sites.respond('http://b.test:PORT/robots.txt', { status: 200, body: disallowsPage })
  const verdict = await newClient().check(sites.withPort(checkedPage))
  expect(verdict.because).toBe('rule')
  expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict)
})
