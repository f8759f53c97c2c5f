// @module-tag nodes
// politely(fetch) behaves like the wrapped fetch. Each case runs with the plain fetch and with the
// polite one, against the same server. The requests that the server gets and the responses must be
// equal. WHATWG Fetch, "HTTP-redirect fetch", as implemented by Node and by undici.
//
// Not compared: the User-Agent, which is the crawler's (see polite-fetch.test.ts), and the messages
// of errors.
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type PoliteFetch, politely } from '../src/index.ts'
import { type Kit, kits, undiciKit } from './kits.ts'
import { Site } from './site.ts'

let site: Site
let other: Site

beforeAll(async () => {
  site = await Site.open()
  other = await Site.open()
  for (const each of [site, other]) {
    /** The query chooses the response: `s` is the status, `to` the Location. */
    each.pages.set('/go', (request, response) => {
      const query = new URL(request.url ?? '', 'http://x').searchParams
      const to = query.get('to')
      response.writeHead(Number(query.get('s')), to === null ? {} : { location: to }).end('moved')
    })
    each.pages.set('/count', (request, response) => {
      const left = Number(request.url?.replace(/.*=/, ''))
      if (left === 0) response.end('home')
      else response.writeHead(302, { location: `/count?left=${left - 1}` }).end()
    })
    // Many servers send bytes beyond ASCII. Node's writeHead refuses to.
    each.pages.set('/raw', (_, response) => {
      response.socket?.end(
        Buffer.from('HTTP/1.1 302 Found\r\nlocation: /café\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
      )
    })
    each.pages.set('/answer', (_, response) => {
      response.writeHead(201, 'Made Up', { 'set-cookie': ['a=1', 'b=2'], 'x-own': 'yes' }).end('created')
    })
    each.pages.set('/gzip', (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('unpacked')))
    each.pages.set('/reset', (request) => request.socket.resetAndDestroy())
  }
})
afterAll(async () => {
  await site.close()
  await other.close()
})

const go = (status: number, to?: string) =>
  `${site.origin}/go?${new URLSearchParams({ s: `${status}`, ...(to === undefined ? {} : { to }) })}`
const TEXT = 'some text, ünïcode'
const SECRETS = { authorization: 'Bearer x', cookie: 'a=b', 'proxy-authorization': 'Basic y', 'x-mine': 'z' }

/**
 * A call of fetch, and the requests that the server must get: `POST go`, or `POST other/go` for the
 * other server.
 */
type Row = readonly [
  name: string,
  requests: string,
  act: (fetch: typeof globalThis.fetch, kit: Kit) => Promise<Response>,
]

const rows: Row[] = [
  ['a page', 'GET page', (fetch) => fetch(`${site.origin}/page?q=1`)],
  ['a URL object', 'GET page', (fetch) => fetch(new URL(`${site.origin}/page`))],
  ['a Request', 'GET page', (fetch, { Request }) => fetch(new Request(`${site.origin}/page`))],
  [
    'something that can be made a string',
    'GET page',
    (fetch) => fetch({ toString: () => `${site.origin}/page` } as unknown as string),
  ],
  ['status, reason, headers, cookies', 'GET answer', (fetch) => fetch(`${site.origin}/answer`)],
  ['a compressed body', 'GET gzip', (fetch) => fetch(`${site.origin}/gzip`)],
  ['HEAD', 'HEAD page', (fetch) => fetch(`${site.origin}/page`, { method: 'HEAD' })],
  ['a method in lower case', 'POST page', (fetch) => fetch(`${site.origin}/page`, { method: 'post', body: TEXT })],
  ['no content', 'GET go', (fetch) => fetch(go(204))],
  ['not found', 'GET go', (fetch) => fetch(go(404))],
  ['init: null', 'GET page', (fetch) => fetch(`${site.origin}/page`, null as unknown as undefined)],
  ['keepalive', 'GET go, GET end', (fetch) => fetch(go(302, '/end'), { keepalive: true })],
  ['cache: no-store', 'GET go, GET end', (fetch) => fetch(go(302, '/end'), { cache: 'no-store' } as RequestInit)],
  ['credentials: omit', 'GET go, GET end', (fetch) => fetch(go(302, '/end'), { credentials: 'omit' })],

  // The target of a redirect.
  ...[301, 302, 303, 307, 308].map(
    (status): Row => [`${status}`, 'GET go, GET end', (fetch) => fetch(go(status, '/end'))],
  ),
  ...[200, 201, 300, 304, 305, 306, 309, 404, 500].map(
    (status): Row => [`${status} with a Location is not a redirect`, 'GET go', (fetch) => fetch(go(status, '/end'))],
  ),
  ['a redirect without Location', 'GET go', (fetch) => fetch(go(302))],
  ...[
    ['a relative path', 'end?q=1', 'GET go, GET end'],
    ['a query', '?s=404', 'GET go, GET go'],
    ['dot segments', '/a/../end', 'GET go, GET end'],
    ['a space', '/a b', 'GET go, GET a%20b'],
    ['a fragment of its own', '/end#there', 'GET go, GET end'],
    ['a backslash', '\\end', 'GET go, GET end'],
    ['an invalid URL', 'http://', 'GET go'],
    ['an invalid host', 'https://[', 'GET go'],
    ['ftp:', 'ftp://127.0.0.1/end', 'GET go'],
    ['data:', 'data:text/plain,hello', 'GET go'],
    ['mailto:', 'mailto:a@example.com', 'GET go'],
    ['javascript:', 'javascript:alert(1)', 'GET go'],
  ].map(([name = '', to, requests = '']): Row => [`a Location with ${name}`, requests, (fetch) => fetch(go(302, to))]),
  ['a Location in bytes that are UTF-8', 'GET raw, GET caf%C3%A9', (fetch) => fetch(`${site.origin}/raw`)],
  ['a fragment is kept', 'GET go, GET end', (fetch) => fetch(`${go(302, '/end')}#here`)],
  [
    'an authority without scheme',
    'GET go, GET other/end',
    (fetch) => fetch(go(302, `${other.origin.replace('http:', '')}/end`)),
  ],
  ['a user and password for the same origin', 'GET go', (fetch) => fetch(go(302, site.origin.replace('//', '//u:p@')))],
  ['a user and password for another', 'GET go', (fetch) => fetch(go(302, other.origin.replace('//', '//u:p@')))],
  ['20 redirects', `${'GET count, '.repeat(20)}GET count`, (fetch) => fetch(`${site.origin}/count?left=20`)],
  ['21 redirects', `${'GET count, '.repeat(20)}GET count`, (fetch) => fetch(`${site.origin}/count?left=21`)],
  ['an empty Location, which is a loop', `${'GET go, '.repeat(20)}GET go`, (fetch) => fetch(go(302, ''))],
  ['redirect: manual', 'GET go', (fetch) => fetch(go(302, '/end'), { redirect: 'manual' })],
  [
    'redirect: manual in a Request',
    'GET go',
    (fetch, { Request }) => fetch(new Request(go(302, '/end'), { redirect: 'manual' })),
  ],
  ['redirect: error', 'GET go', (fetch) => fetch(go(302, '/end'), { redirect: 'error' })],
  ['redirect: error, and no Location', 'GET go', (fetch) => fetch(go(302), { redirect: 'error' })],
  ['redirect: error, and no redirect', 'GET page', (fetch) => fetch(`${site.origin}/page`, { redirect: 'error' })],
  ['redirect: something else', '', (fetch) => fetch(go(302, '/end'), { redirect: 'sometimes' as 'follow' })],

  // Changes of the method and the body.
  ...[301, 302, 303].map(
    (status): Row => [
      `POST and ${status}`,
      'POST go, GET end',
      (fetch) =>
        fetch(go(status, '/end'), {
          method: 'POST',
          body: TEXT,
          headers: { 'content-language': 'en', 'content-type': 'text/x', 'x-mine': 'z' },
        }),
    ],
  ),
  ...[301, 302, 307, 308].map(
    (status): Row => [
      `PUT and ${status}`,
      'PUT go, PUT end',
      (fetch) => fetch(go(status, '/end'), { method: 'PUT', body: TEXT }),
    ],
  ),
  ['PUT and 303', 'PUT go, GET end', (fetch) => fetch(go(303, '/end'), { method: 'PUT', body: TEXT })],
  ['DELETE and 302', 'DELETE go, DELETE end', (fetch) => fetch(go(302, '/end'), { method: 'DELETE' })],
  ['HEAD and 303', 'HEAD go, HEAD end', (fetch) => fetch(go(303, '/end'), { method: 'HEAD' })],
  ...(
    [
      ['a string', () => TEXT],
      ['an empty string', () => ''],
      ['undefined', () => undefined],
      ['bytes', () => new Uint8Array([0, 255, 10, 13])],
      ['a part of a buffer', () => new Uint8Array([0, 255, 10, 13]).subarray(1, 3)],
      ['an ArrayBuffer', () => new Uint8Array([0, 255, 10, 13]).buffer],
      ['URLSearchParams', () => new URLSearchParams({ a: 'b c', d: 'ü' })],
      ['a Blob', () => new Blob(['blob'], { type: 'text/x' })],
      [
        'FormData',
        ({ FormData }: Kit) => {
          const form = new FormData()
          form.append('a', 'b')
          form.append('file', new Blob(['c']), 'c.txt')
          return form
        },
      ],
    ] satisfies [string, (kit: Kit) => RequestInit['body'] | undefined][]
  ).flatMap(([name, make]): Row[] => [
    [
      `${name} and 307`,
      'POST go, POST end',
      (fetch, kit) => fetch(go(307, '/end'), { method: 'POST', body: make(kit) ?? null }),
    ],
    [
      `${name} and 308, to another origin`,
      'POST go, POST other/end',
      (fetch, kit) => fetch(go(308, `${other.origin}/end`), { method: 'POST', body: make(kit) ?? null }),
    ],
    [
      `${name} in a Request, and two 307`,
      'POST go, POST go, POST end',
      (fetch, kit) => fetch(new kit.Request(go(307, go(307, '/end')), { method: 'POST', body: make(kit) ?? null })),
    ],
    [
      `${name} in a Request, and 303`,
      'POST go, GET end',
      (fetch, kit) => fetch(new kit.Request(go(303, '/end'), { method: 'POST', body: make(kit) ?? null })),
    ],
  ]),
  [
    'a stream',
    'POST page',
    (fetch) => fetch(`${site.origin}/page`, { method: 'POST', body: streamOf(TEXT), duplex: 'half' } as RequestInit),
  ],
  [
    'a stream and 303',
    'POST go, GET end',
    (fetch) => fetch(go(303, '/end'), { method: 'POST', body: streamOf(TEXT), duplex: 'half' } as RequestInit),
  ],
  [
    'a stream and 307: it is gone',
    'POST go',
    (fetch) => fetch(go(307, '/end'), { method: 'POST', body: streamOf(TEXT), duplex: 'half' } as RequestInit),
  ],
  [
    'a stream in a Request',
    'POST page',
    (fetch, { Request }) =>
      fetch(
        new Request(`${site.origin}/page`, { method: 'POST', body: streamOf(TEXT), duplex: 'half' } as RequestInit),
      ),
  ],
  [
    'a generator and 307: it is gone',
    'POST go',
    (fetch) => fetch(go(307, '/end'), { method: 'POST', body: generate(), duplex: 'half' } as unknown as RequestInit),
  ],

  // Changes of the headers.
  ['headers as an object', 'GET go, GET end', (fetch) => fetch(go(302, '/end'), { headers: SECRETS })],
  [
    'headers as pairs, some twice',
    'GET go, GET end',
    (fetch) =>
      fetch(go(302, '/end'), {
        headers: [
          ['X-Mine', '1'],
          ['x-mine', '2'],
        ],
      }),
  ],
  [
    'headers as Headers',
    'GET go, GET end',
    (fetch, { Headers }) => fetch(go(302, '/end'), { headers: new Headers(SECRETS) }),
  ],
  [
    'headers in a Request',
    'GET go, GET end',
    (fetch, { Request }) => fetch(new Request(go(302, '/end'), { headers: SECRETS })),
  ],
  [
    'headers that replace those of a Request',
    'GET go, GET end',
    (fetch, { Request }) => fetch(new Request(go(302, '/end'), { headers: SECRETS }), { headers: { 'x-other': '1' } }),
  ],
  [
    'headers to another origin: what is private stays',
    'GET go, GET other/end',
    (fetch) => fetch(go(302, `${other.origin}/end`), { headers: SECRETS }),
  ],
  [
    'headers to another origin and back',
    'GET go, GET other/go, GET end',
    (fetch) =>
      fetch(go(302, `${other.origin}/go?s=302&to=${encodeURIComponent(`${site.origin}/end`)}`), { headers: SECRETS }),
  ],
  [
    'a Host header',
    'GET go, GET end',
    (fetch) => fetch(go(302, '/end'), { headers: { host: new URL(site.origin).host } }),
  ],
  [
    'a Host header to another origin',
    'GET go, GET other/end',
    (fetch) => fetch(go(302, `${other.origin}/end`), { headers: { host: new URL(site.origin).host } }),
  ],
  ['an invalid header value', '', (fetch) => fetch(`${site.origin}/page`, { headers: { 'x-mine': 'a\nb' } })],

  // A Request and options together.
  [
    'init over a Request',
    'PUT page',
    (fetch, { Request }) =>
      fetch(new Request(`${site.origin}/page`, { method: 'POST', body: 'old' }), { method: 'PUT', body: 'new' }),
  ],
  [
    'body: null over a Request',
    'POST page',
    (fetch, { Request }) => fetch(new Request(`${site.origin}/page`, { method: 'POST', body: 'old' }), { body: null }),
  ],
  [
    'a Request for init',
    'POST page',
    (fetch, { Request }) =>
      fetch(
        `${site.origin}/page`,
        new Request(`${site.origin}/`, { method: 'POST', body: TEXT, headers: { 'x-mine': 'z' } }) as RequestInit,
      ),
  ],
  [
    'a Request whose body was read',
    '',
    async (fetch, { Request }) => {
      const request = new Request(`${site.origin}/page`, { method: 'POST', body: TEXT })
      await request.text()
      return fetch(request)
    },
  ],
  [
    'signal: null over a Request that is aborted',
    'GET page',
    (fetch, { Request }) =>
      fetch(new Request(`${site.origin}/page`, { signal: AbortSignal.abort() }), { signal: null }),
  ],

  // Changes that the caller makes to the arguments while the request waits.
  [
    'a URL object that is changed afterwards',
    'GET page',
    (fetch) => {
      const url = new URL(`${site.origin}/page`)
      const response = fetch(url)
      url.pathname = '/changed'
      return response
    },
  ],
  [
    'init that is changed afterwards',
    'POST page',
    (fetch) => {
      const init: RequestInit = { method: 'POST', body: 'before', headers: { 'x-mine': 'before' } }
      const response = fetch(`${site.origin}/page`, init)
      Object.assign(init, { method: 'PUT', body: 'after', headers: { 'x-mine': 'after' } })
      return response
    },
  ],

  // Calls that need no network, or fail before they use it.
  ['data:', '', (fetch) => fetch('data:text/plain,hello')],
  ['blob:', '', (fetch) => fetch(URL.createObjectURL(new Blob(['hello'])))],
  ['a user and password', '', (fetch) => fetch(site.origin.replace('//', '//u:p@'))],
  ['a GET with a body', '', (fetch) => fetch(`${site.origin}/page`, { body: TEXT })],
  ['an invalid method', '', (fetch) => fetch(`${site.origin}/page`, { method: 'GET IT' })],
  ['an invalid signal', '', (fetch) => fetch(`${site.origin}/page`, { signal: 'soon' as unknown as AbortSignal })],
  ['an aborted signal', '', (fetch) => fetch(`${site.origin}/page`, { signal: AbortSignal.abort() })],
  [
    'an aborted signal with a reason',
    '',
    (fetch) => fetch(`${site.origin}/page`, { signal: AbortSignal.abort(new RangeError('mine')) }),
  ],
  [
    'an aborted signal in a Request',
    '',
    (fetch, { Request }) => fetch(new Request(`${site.origin}/page`, { signal: AbortSignal.abort() })),
  ],
  ['a connection that breaks', 'GET reset', (fetch) => fetch(`${site.origin}/reset`)],
]

function streamOf(text: string): ReadableStream {
  return new Blob([text]).stream()
}

async function* generate() {
  yield new TextEncoder().encode(TEXT)
}

/** Returns the outcome of a call, and the requests that the servers got. */
async function tell(act: () => Promise<Response>) {
  site.seen.length = 0
  other.seen.length = 0
  const outcome = await act().then(
    async (response) => ({
      status: response.status,
      statusText: response.statusText,
      ok: response.ok,
      url: response.url.replace(/^blob:.*/, 'blob:'),
      redirected: response.redirected,
      cookies: response.headers.getSetCookie(),
      headers: Object.fromEntries([...response.headers].filter(([name]) => !['date', 'keep-alive'].includes(name))),
      body: await response.text().catch((error: Error) => `broke off: ${error.name}`),
    }),
    (error: unknown) => ({ error: error instanceof Error ? error.name : String(error) }),
  )
  const requests = [...site.seen, ...other.seen]
    .toSorted((one, two) => one.at - two.at)
    .map((seen) => {
      const { 'user-agent': _, ...headers } = seen.headers
      const { method, url } = seen
      return {
        server: other.seen.includes(seen) ? 'other/' : '',
        method,
        url,
        headers,
        body: seen.body,
      }
    })
  // The boundary of a form differs from call to call.
  const json = JSON.stringify({ outcome, requests }).replaceAll(/formdata-undici-\d+/g, 'boundary')
  return JSON.parse(json) as { outcome: unknown; requests: typeof requests }
}

describe.each(kits)('politely($name) behaves like it', (kit) => {
  let polite: PoliteFetch<typeof globalThis.fetch>
  beforeAll(() => {
    polite = politely(kit.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, maxConcurrent: 1 })
  })
  afterEach(async () => {
    // Every permit has been released.
    const permit = await polite.gate.enter(`${site.origin}/`)
    permit.release()
  })
  afterAll(() => polite.close())

  test.each(rows)('%s', async (name, requests, act) => {
    // The standard sends bytes again after a redirect. undici 8 does; the fetch of Node 22 (undici
    // 6) fails to.
    const isBroken =
      process.versions.undici?.startsWith('6.') && /^(bytes|a part of a buffer|an ArrayBuffer)/.test(name)
    const judge = isBroken ? undiciKit : kit
    const plain = await tell(() => act(judge.fetch, judge))
    const lines = plain.requests.map(
      ({ server, method, url }) => `${method} ${server}${url.slice(1).replace(/\?.*/, '')}`,
    )
    expect(lines.join(', ')).toBe(requests) // two calls that fail in the same way must not count as success
    expect(await tell(() => act(polite, kit))).toEqual(plain)
  })
})
