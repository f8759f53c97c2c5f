// @module-tag nodes
// The answers of a fake web, through its fetch and through its dispatcher.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { politeInterceptor } from '@politely/gate/undici'
import { type Dispatcher, fetch as fetch8, interceptors, Response as Response8, request as request8 } from 'undici'
import { fetch as fetch6, request as request6 } from 'undici6'
import { fetch as fetch7, request as request7 } from 'undici7'
import { describe, expect, it } from 'vitest'
import { type FakeWeb, type FakeWebOptions, fakeWeb, type OptionError } from '../src/index.ts'

const userAgent = 'ExampleBot/1.0'
const ORIGIN = 'https://site.example'

function exampleWeb(): FakeWeb {
  return fakeWeb({
    [ORIGIN]: {
      robots: 'User-agent: *\nDisallow: /cart',
      pages: {
        '/': 'a page',
        '/search': (request) => `results of ${new URL(request.url).search}`,
        '/search?q=b': 'another page',
        '/busy': { status: 503, headers: { 'retry-after': '120' }, body: 'busy' },
        '/gone': 410,
        '/none': null,
        '/empty': 204,
        '/json': () => Response.json({ a: 1 }),
        '/bytes': { body: new Uint8Array([104, 105]) },
        '/echo': async (request) => `${request.method} ${await request.text()}`,
        '/a b': 'a page with a space in its path',
        '/old': { status: 301, headers: { location: '/' } },
        '/post': { status: 303, headers: { location: '/echo' } },
        '/loop': { status: 302, headers: { location: '/loop' } },
        '/away': { status: 302, headers: { location: 'https://gone.example/' } },
        '/cut': { fails: 'reset' },
      },
    },
    'https://gone.example': { fails: 'dns' },
    'http://localhost:8080': { pages: (request) => `the page ${new URL(request.url).pathname}` },
  })
}

const answers: readonly (readonly [path: string, status: number, body: string])[] = [
  [`${ORIGIN}/robots.txt`, 200, 'User-agent: *\nDisallow: /cart'],
  [`${ORIGIN}/`, 200, 'a page'],
  [`${ORIGIN}/#top`, 200, 'a page'],
  [`${ORIGIN}/search?q=a`, 200, 'results of ?q=a'],
  [`${ORIGIN}/search?q=b`, 200, 'another page'],
  [`${ORIGIN}/busy`, 503, 'busy'],
  [`${ORIGIN}/gone`, 410, ''],
  [`${ORIGIN}/none`, 404, ''],
  [`${ORIGIN}/not-listed`, 404, ''],
  [`${ORIGIN}/empty`, 204, ''],
  [`${ORIGIN}/json`, 200, '{"a":1}'],
  [`${ORIGIN}/bytes`, 200, 'hi'],
  [`${ORIGIN}/a%20b`, 200, 'a page with a space in its path'],
  ['http://localhost:8080/any', 200, 'the page /any'],
  ['http://localhost:8080/robots.txt', 404, ''],
]

/** The requests of each undici, through the dispatcher. */
const dispatched: Readonly<Record<string, (url: string, dispatcher: Dispatcher) => Promise<[number, string]>>> = {
  'request of undici 8': (url, dispatcher) => readBody(request8(url, { dispatcher })),
  'request of undici 7': (url, dispatcher) => readBody(request7(url, { dispatcher: dispatcher as never })),
  'request of undici 6': (url, dispatcher) => readBody(request6(url, { dispatcher: dispatcher as never })),
  'fetch of undici 8': (url, dispatcher) => readText(fetch8(url, { dispatcher })),
  'fetch of undici 7': (url, dispatcher) => readText(fetch7(url, { dispatcher: dispatcher as never })),
  'fetch of undici 6': (url, dispatcher) => readText(fetch6(url, { dispatcher: dispatcher as never })),
  'fetch of Node': (url, dispatcher) => readText(fetch(url, { dispatcher } as unknown as RequestInit)),
}

describe('an answer of a fake web', () => {
  it.each(answers)('%s has status %i and body %j, through its fetch', async (url, status, body) => {
    const response = await exampleWeb().fetch(url)
    expect([response.status, await response.text(), response.url]).toEqual([status, body, url.replace('#top', '')])
  })

  it.each(Object.entries(dispatched))('is the same through its dispatcher, to %s', async (_, send) => {
    const { dispatcher } = exampleWeb()
    const received = await Promise.all(answers.map(async ([url]) => [url, ...(await send(url, dispatcher))]))
    expect(received).toEqual(answers)
  })

  it('may be one Response for several requests', async () => {
    const { fetch } = fakeWeb({ [ORIGIN]: { pages: { '/': Response.json({ a: 1 }) } } })
    const responses = [await fetch(`${ORIGIN}/`), await fetch(`${ORIGIN}/?b`)]
    expect(await Promise.all(responses.map((response) => response.json()))).toEqual([{ a: 1 }, { a: 1 }])
  })

  it('gets the method and the body of a request', async () => {
    const { fetch, dispatcher } = exampleWeb()
    const url = `${ORIGIN}/echo`
    expect(await (await fetch(url, { method: 'POST', body: 'a text' })).text()).toBe('POST a text')
    const { body } = await request8(url, { method: 'PUT', body: 'a text', dispatcher })
    expect(await body.text()).toBe('PUT a text')
    expect(await (await fetch8(url, { method: 'POST', body: 'a text', dispatcher })).text()).toBe('POST a text')
  })
})

describe('the fetch of a fake web', () => {
  it('lets a polite fetch follow redirects, also a wrapped one', async () => {
    const { fetch } = fakeWeb({
      [ORIGIN]: { pages: { '/': 'home', '/old': { status: 301, headers: { location: '/' } } } },
    })
    const polite = politely(politely(fetch, { userAgent: 'ExampleBot', minDelayMs: 0 }), {
      userAgent: 'ExampleBot',
      minDelayMs: 0,
    })
    const response = await polite(`${ORIGIN}/old`)
    expect([await response.text(), response.redirected]).toEqual(['home', true])
    await polite.close()
  })

  it('follows redirects', async () => {
    const { fetch, requests } = exampleWeb()
    const response = await fetch(`${ORIGIN}/old`)
    expect([response.url, response.redirected]).toEqual([`${ORIGIN}/`, true])
    expect(await (await fetch(`${ORIGIN}/post`, { method: 'POST', body: 'a text' })).text()).toBe('GET ')
    expect((await fetch(`${ORIGIN}/old`, { redirect: 'manual' })).status).toBe(301)
    await expect(fetch(`${ORIGIN}/old`, { redirect: 'error' })).rejects.toThrow('fetch failed')
    await expect(fetch(`${ORIGIN}/loop`)).rejects.toMatchObject({ cause: { message: 'redirect count exceeded' } })
    expect(requests.slice(0, 4).map(({ method, url }) => `${method} ${url.slice(ORIGIN.length)}`)).toEqual([
      'GET /old',
      'GET /',
      'POST /post',
      'GET /echo',
    ])
  })

  it('rejects as the fetch of Node does', async () => {
    const { fetch } = exampleWeb()
    await expect(fetch(`${ORIGIN}/cut`)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    })
    await expect(fetch(`${ORIGIN}/away`)).rejects.toMatchObject({ cause: { code: 'ENOTFOUND' } })
    await expect(fetch('/relative')).rejects.toThrow(TypeError)
  })

  it('rejects with the reason of its signal, also for a page that never answers', async () => {
    const web = fakeWeb({ [ORIGIN]: { pages: () => new Promise(() => undefined) } })
    const controller = new AbortController()
    const response = web.fetch(`${ORIGIN}/`, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(response).rejects.toThrow('enough')
  })

  it('says what to write for a site that is not listed', async () => {
    const { fetch, dispatcher } = exampleWeb()
    const explanation = expect.stringContaining("no site https://other.example; add 'https://other.example': {")
    await expect(fetch('https://other.example/')).rejects.toMatchObject({
      cause: { code: 'ENOTFOUND', message: explanation },
    })
    await expect(request8('https://other.example/', { dispatcher })).rejects.toMatchObject({ message: explanation })
  })
})

it('a fake web logs each request', async () => {
  const { fetch, requests, clock } = exampleWeb()
  const politeFetch = politely(fetch, { userAgent })
  await politeFetch(`${ORIGIN}/`, { headers: { 'X-A': 'b' } })
  await politeFetch.close()
  expect(requests.map(({ method, url, isRobotsTxt }) => [method, url, isRobotsTxt])).toEqual([
    ['GET', `${ORIGIN}/robots.txt`, true],
    ['GET', `${ORIGIN}/`, false],
  ])
  expect(requests.map(({ headers }) => headers['user-agent'])).toEqual([userAgent, userAgent])
  expect(requests[1]?.headers['x-a']).toBe('b')
  expect(Math.abs(clock.now() - (requests[0]?.at ?? 0))).toBeLessThan(60_000)
})

it('a dispatcher of undici takes interceptors, such as a gate', async () => {
  const web = exampleWeb()
  const robots = new RobotsClient({ userAgent, dispatcher: web.dispatcher })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const dispatcher = web.dispatcher.compose(politeInterceptor(gate), interceptors.redirect({ maxRedirections: 5 }))
  const { body } = await request8(`${ORIGIN}/old`, { dispatcher })
  expect(await body.text()).toBe('a page')
  await expect(request8(`${ORIGIN}/cart`, { dispatcher })).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  expect(web.requests.map(({ url }) => url.slice(ORIGIN.length))).toEqual(['/robots.txt', '/old', '/'])
  gate.close()
  await robots.close()
})

/** The verdict about a page of a site, for each answer to its robots.txt. */
const verdicts = [
  ['Disallow: /', 'no-group'],
  ['User-agent: *\nDisallow: /', 'rule'],
  [null, 'unavailable'],
  [404, 'unavailable'],
  [503, 'unreachable: status'],
  [{ fails: 'dns' }, 'unreachable: dns'],
  [{ fails: 'refused' }, 'unreachable: refused'],
  [{ fails: 'timeout' }, 'unreachable: timeout'],
  [{ fails: 'reset' }, 'unreachable: reset'],
  [{ fails: 'tls' }, 'unreachable: tls'],
] as const

describe.each(['fetch', 'dispatcher'] as const)('a RobotsClient with the %s of a fake web', (way) => {
  it.each(verdicts)('robots.txt %j leads to %s', async (robots, because) => {
    const web = fakeWeb({ [ORIGIN]: { robots } })
    const client = new RobotsClient({ userAgent, retries: 0, [way]: web[way] })
    const verdict = await client.check(`${ORIGIN}/page`)
    const reason = verdict.because === 'unreachable' ? `: ${verdict.access.reason}` : ''
    expect(verdict.because + reason).toBe(because)
    await client.close()
  })
})

describe('fakeWeb rejects', () => {
  const wrong: readonly (readonly [what: string, sites: unknown, message: string])[] = [
    ['no sites', undefined, 'sites: is missing; write fakeWeb('],
    ['a host name', { 'site.example': {} }, 'sites: "site.example" is not an origin'],
    ['a host name, and names the origin', { 'site.example': {} }, "write 'https://site.example': { robots"],
    ['a site without its origin', { robots: '', pages: {} }, `"robots" is not an origin; write one such as`],
    ['a list of sites', [ORIGIN], 'is not an object; write fakeWeb('],
    ['a URL with a path', { [`${ORIGIN}/a`]: {} }, `write '${ORIGIN}': { pages: { '/a': … } }`],
    ['the URL of a robots.txt', { [`${ORIGIN}/robots.txt`]: '' }, `write '${ORIGIN}': { robots: … }`],
    ['a text as a site', { [ORIGIN]: 'a page' }, `sites['${ORIGIN}']: "a page" is not a site`],
    ['a Response as a site', { [ORIGIN]: new Response('a page') }, 'an object of type Response is not a site'],
    ['an unknown part of a site', { [ORIGIN]: { robot: '' } }, 'did you mean `robots`?'],
    ['robotsTxt', { [ORIGIN]: { robotsTxt: '' } }, 'robotsTxt: did you mean `robots`? (write { robots: '],
    ['robots.txt', { [ORIGIN]: { 'robots.txt': '' } }, 'robots.txt: did you mean `robots`?'],
    ['robots_txt', { [ORIGIN]: { robots_txt: '' } }, 'robots_txt: did you mean `robots`?'],
    ['a line of robots.txt as a part of a site', { [ORIGIN]: { crawlDelay: 5 } }, 'did you mean `robots`?'],
    ['the path of robots.txt in a site', { [ORIGIN]: { '/robots.txt': '' } }, 'write { robots: … }'],
    ['a path in a site', { [ORIGIN]: { '/': '' } }, "write { pages: { '/': … } }"],
    ['an answer as a site', { [ORIGIN]: { status: 404 } }, 'status: is a part of an answer; write { pages: '],
    ['a delay of a site', { [ORIGIN]: { delay: 100 } }, 'delay: a slow answer is a function that waits; write pages:'],
    ['a delay of an answer', { [ORIGIN]: { robots: { delayMs: 100 } } }, 'delayMs: a slow answer is a function that'],
    [
      'pages of a site that fails',
      { [ORIGIN]: { fails: 'dns', pages: {} } },
      "write { pages: { '/': { fails: 'dns' } } }",
    ],
    ['a failure in other words', { [ORIGIN]: { pages: { '/': { error: 'dns' } } } }, "write { fails: 'dns' }"],
    ['an unknown failure', { [ORIGIN]: { fails: 'tcp' } }, '"tcp" is not known; expected one of dns, refused'],
    ['a page without a slash', { [ORIGIN]: { pages: { a: '' } } }, `"a" is not a path; write one such as '/a'`],
    ['a URL as a page', { [ORIGIN]: { pages: { [`${ORIGIN}/a?b`]: '' } } }, "is not a path; write one such as '/a?b'"],
    ['a wildcard as a page', { [ORIGIN]: { pages: { '*': '' } } }, "write a function for all paths: { pages: () => 'a"],
    ['a page for robots.txt', { [ORIGIN]: { pages: { '/robots.txt': '' } } }, 'part of the site: { robots: … }'],
    ['a page without an answer', { [ORIGIN]: { pages: { '/': undefined } } }, 'is missing; expected a text'],
    ['a status out of range', { [ORIGIN]: { robots: 42 } }, '42 is out of range; expected a whole number from 200'],
    ['an unknown part of a response', { [ORIGIN]: { robots: { statusCode: 404 } } }, 'write { status: 404 }'],
    [
      'a redirect in other words',
      { [ORIGIN]: { robots: { redirect: '/' } } },
      "write { status: 301, headers: { location: '",
    ],
    ['a body that is an object', { [ORIGIN]: { robots: { body: {} } } }, 'is not a body; expected a string'],
    [
      'a Response of undici',
      { [ORIGIN]: { robots: new Response8('') } },
      'has no status, headers or body; expected a text',
    ],
    ['a promise', { [ORIGIN]: { robots: Promise.resolve('') } }, 'has no status, headers or body; expected a text'],
    ['an invalid header', { [ORIGIN]: { robots: { headers: { 'a b': '' } } } }, 'expected names and values'],
  ]
  it.each(wrong)('%s', (_, sites, message) => {
    expect(() => fakeWeb(sites as never)).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION' }))
    expect(() => fakeWeb(sites as never)).toThrow(message)
  })

  it('unknown options and invalid timers', () => {
    expect(() => fakeWeb({}, { time: 1 } as FakeWebOptions)).toThrow('time')
    expect(() => fakeWeb({}, { delay: 1 } as FakeWebOptions)).toThrow('a slow answer is a function that waits')
    expect(() => fakeWeb({}, { timers: {} as never })).toThrow('timers: has no method tick')
  })

  it('what a function returns, when it returns it', async () => {
    const { fetch } = fakeWeb({ [ORIGIN]: { pages: () => ({ code: 1 }) as never } })
    const error = await fetch(`${ORIGIN}/`).catch(({ cause }: { cause: OptionError }) => cause)
    expect(error).toMatchObject({ code: 'ERR_POLITELY_OPTION', message: expect.stringContaining('code') })
  })
})

async function readBody(
  response: Promise<{ statusCode: number; body: { text(): Promise<string> } }>,
): Promise<[number, string]> {
  const { statusCode, body } = await response
  return [statusCode, await body.text()]
}

async function readText(response: Promise<{ status: number; text(): Promise<string> }>): Promise<[number, string]> {
  const { status, text } = await response.then((it) => ({ status: it.status, text: it.text() }))
  return [status, await text]
}
