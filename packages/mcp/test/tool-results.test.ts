// The results of fetch_url, above all its failures, and the requests that sites receive.
import type { LookupFunction } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Client } from '@modelcontextprotocol/client'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Answer, type Sites, startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import type { FetchToolsOptions } from '../src/options.ts'
import { createReaders } from '../src/readers.ts'
import { connectInProcess } from './connect.ts'

const HOME = 'http://home.test:PORT'
const ROBOTS = `${HOME}/robots.txt`
const HTML = { 'content-type': 'text/html' }

const options: FetchToolsOptions = {
  userAgent: 'ExampleMCP/1.0',
  minDelayMs: 0,
  retries: 0,
  allowAddresses: ['127.0.0.0/8'],
  lookup: lookupIn({
    localhost: ['127.0.0.1', '::1'],
    'private.test': '127.0.0.2',
    'busy.test': 'EAI_AGAIN',
    'gone.test': 'ENOTFOUND',
  }),
}

async function start(
  web: Readonly<Record<string, Answer>>,
  change: Partial<FetchToolsOptions> = {},
): Promise<{ sites: Sites; client: Client }> {
  const sites = await startSites()
  for (const [url, answer] of Object.entries(web)) sites.respond(url, answer)
  const readers = createReaders({ ...options, ...change })
  const client = await connectInProcess(readers)
  onTestFinished(async () => {
    await client.close()
    await readers.close()
    await sites.close()
  })
  return { sites, client }
}

/** Calls the tool. Replaces the port in the texts by `:PORT`. */
async function fetchUrl({ sites, client }: Awaited<ReturnType<typeof start>>, args: Readonly<Record<string, unknown>>) {
  const url = typeof args.url === 'string' ? sites.withPort(args.url) : args.url
  const result = await client.callTool({ name: 'fetch_url', arguments: { ...args, url } })
  const withoutPort = (text: string) => text.replaceAll(`:${sites.port}`, ':PORT')
  const texts = result.content.map((block) => (block.type === 'text' ? withoutPort(block.text) : block.type))
  return { isError: result.isError === true, texts, data: result.structuredContent as Data | undefined }
}

interface Data {
  readonly message: string
  readonly reason: string
  readonly retryAfterMs?: number
  readonly verdict?: { readonly because: string; readonly rule?: { readonly line: number; readonly text: string } }
}

interface FailureCase {
  readonly name: string
  readonly responses?: Readonly<Record<string, Answer>>
  readonly url: string
  readonly options?: Partial<FetchToolsOptions>
  readonly message: string | RegExp
  readonly reason: string
  readonly requests?: readonly string[]
}

/** A resolver that returns one address after another, then repeats the last one. */
function lookupInTurn(...addresses: readonly string[]): LookupFunction {
  let calls = 0
  return (host, options, callback) => {
    const address = addresses[Math.min(calls++, addresses.length - 1)] ?? ''
    lookupIn({ [host]: address })(host, options, callback)
  }
}

const noResponse: Answer = () => undefined
const ROBOTS_AND_PAGE = [ROBOTS, `${HOME}/page`]
const failures: readonly FailureCase[] = [
  { name: 'an empty URL', url: '', reason: 'url', message: /"" cannot be fetched: / },
  {
    name: 'a path',
    url: '/page',
    reason: 'url',
    message: /"\/page" cannot be fetched: .*https:\/\/example\.com\/page/,
  },
  { name: 'an invalid URL', url: 'http://[', reason: 'url', message: /"http:\/\/\[" cannot be fetched: / },
  { name: 'an ftp URL', url: 'ftp://home.test/', reason: 'url', message: /only http and https URLs are supported/ },
  { name: 'a file URL', url: 'file:///etc/passwd', reason: 'url', message: /only http and https URLs are supported/ },
  {
    name: 'a data URL',
    url: 'data:text/plain,hello',
    reason: 'url',
    message: /only http and https URLs are supported/,
  },
  {
    name: 'a URL with a password',
    url: 'http://a:b@home.test/',
    reason: 'url',
    message: /it contains a user name or password, and this server sends none/,
  },
  {
    name: 'RFC 9309 §2.2.2: a page that a rule disallows',
    responses: { [ROBOTS]: { status: 200, body: 'User-agent: *\nDisallow: /page\n' } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    message: `Not fetched: ${HOME}/page is disallowed: line 2 of robots.txt says "Disallow: /page" to *. Its robots.txt is ${ROBOTS}. The site asks automatic clients not to fetch this page, so do not try another way; a person can open it in a browser.`,
    requests: [ROBOTS],
  },
  {
    name: 'RFC 9309 §2.3.1.4: a site whose robots.txt is unreachable',
    responses: { [ROBOTS]: { status: 503 } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    message: /is unreachable \(status 503\).* nothing may be fetched from it now\. Try again in \d+ s\.$/,
    requests: [ROBOTS],
  },
  {
    name: 'a host without an address',
    url: 'http://gone.test/page',
    reason: 'robots.txt',
    message: /unreachable \(dns: .*The host name may be wrong\./,
  },
  {
    name: 'a DNS server that does not respond',
    url: 'http://busy.test/page',
    reason: 'robots.txt',
    message: /unreachable \(dns-unavailable: .*nothing may be fetched from it now\./,
  },
  {
    name: 'status 404',
    responses: { [`${HOME}/page`]: { status: 404 } },
    url: `${HOME}/page`,
    reason: 'status',
    message: `Not fetched: ${HOME}/page responded with 404 Not Found.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'status 429 with Retry-After',
    responses: { [`${HOME}/page`]: { status: 429, headers: { 'retry-after': '30' } } },
    url: `${HOME}/page`,
    reason: 'status',
    message: `Not fetched: ${HOME}/page responded with 429 Too Many Requests. Try again in 30 s.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'an image',
    responses: { [`${HOME}/page`]: { status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' } },
    url: `${HOME}/page`,
    reason: 'media-type',
    message: `Not fetched: ${HOME}/page is image/png; this server reads text only.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a closed connection',
    responses: { [`${HOME}/page`]: (socket) => socket.destroy() },
    url: `${HOME}/page`,
    reason: 'network',
    message: `Not fetched: ${HOME}/page could not be fetched: other side closed.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a body that ends early',
    responses: { [`${HOME}/page`]: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf') },
    url: `${HOME}/page`,
    reason: 'network',
    message: `Not fetched: ${HOME}/page could not be fetched: other side closed.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a body with a wrong Content-Encoding',
    responses: { [`${HOME}/page`]: { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'not gzip' } },
    url: `${HOME}/page`,
    reason: 'network',
    message: `Not fetched: ${HOME}/page could not be fetched: incorrect header check.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a body with two codings, which a few bytes can decode to gigabytes',
    responses: { [`${HOME}/page`]: { status: 200, headers: { 'content-encoding': 'deflate, br' }, body: 'x' } },
    url: `${HOME}/page`,
    reason: 'network',
    message: `Not fetched: ${HOME}/page could not be read: its Content-Encoding is "deflate, br", and this server decodes one coding.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a redirect to a file',
    responses: { [`${HOME}/page`]: { status: 302, headers: { location: 'file:///etc/passwd' } } },
    url: `${HOME}/page`,
    reason: 'network',
    message: /redirects to "file:\/\/\/etc\/passwd", which is not an http or https URL/,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a redirect to a private address',
    responses: { [`${HOME}/page`]: { status: 302, headers: { location: 'http://10.0.0.1/admin' } } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    message:
      /10\.0\.0\.1\/admin is disallowed: .*not a public address.* This server connects to public addresses only\.$/,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a host whose address changes after robots.txt was read (DNS rebinding)',
    url: 'http://rebound.test:PORT/page',
    options: { lookup: lookupInTurn('127.0.0.1', '127.0.0.2'), allowAddresses: ['127.0.0.1'] },
    reason: 'network',
    message:
      /could not be fetched: rebound\.test is at 127\.0\.0\.2, which is not a public address; .*allowAddresses.*\.$/,
    requests: ['http://rebound.test:PORT/robots.txt'],
  },
  {
    name: 'a page without a response',
    responses: { [`${HOME}/page`]: noResponse },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    message: `Not fetched: ${HOME}/page did not arrive within 1 s.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a page whose body does not end',
    responses: { [`${HOME}/page`]: (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf') },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    message: `Not fetched: ${HOME}/page did not arrive within 1 s.`,
    requests: ROBOTS_AND_PAGE,
  },
  {
    name: 'a robots.txt without a response',
    responses: { [ROBOTS]: noResponse },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    message: `Not fetched: robots.txt for ${HOME}/page did not arrive within 1 s.`,
    requests: [ROBOTS],
  },
]

test.each(failures)(
  'fetch_url reports $name',
  async ({ responses = {}, url, options: change, message, reason, requests = [] }) => {
    const server = await start(responses, change)
    const { isError, texts, data } = await fetchUrl(server, { url })
    expect(texts).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)])
    expect(data?.message.replaceAll(`:${server.sites.port}`, ':PORT')).toBe(texts[0])
    expect(data?.reason).toBe(reason)
    expect(isError).toBe(true)
    expect(server.sites.requestedUrls).toEqual(requests)
  },
)

test.each([
  'http://127.0.0.1:PORT/page',
  'http://localhost:PORT/page',
  'http://private.test:PORT/page',
  'http://[::ffff:127.0.0.1]:PORT/page',
  'http://2130706433:PORT/page',
])('does not connect to private addresses unless they are allowed (our choice): %s', async (url) => {
  const server = await start({}, { allowAddresses: [] })
  const { isError, texts } = await fetchUrl(server, { url })
  expect(isError).toBe(true)
  expect(texts[0]).toContain('This server connects to public addresses only.')
  expect(server.sites.connections).toEqual([])
})

test('does not wait for a slot after the time limit, and reports when to try again (our choice)', async () => {
  const server = await start(
    {
      [ROBOTS]: { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' },
      [`${HOME}/1`]: { status: 200, body: 'one' },
    },
    { timeoutMs: 20_000 },
  )
  await fetchUrl(server, { url: `${HOME}/1` })
  const { isError, texts, data } = await fetchUrl(server, { url: `${HOME}/2` })
  expect(isError).toBe(true)
  expect(texts[0]).toMatch(
    /^Not fetched: the request to .*\/2 may start in 60 s \(crawl-delay, requests ahead: 0\), and this server waits 20 s/,
  )
  expect(data?.reason).toBe('turn')
  expect(data?.retryAfterMs).toBeGreaterThan(50_000)
  expect(server.sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`])
})

test('a request that times out in the queue uses no slot (our choice)', { tags: 'full' }, async () => {
  const server = await start(
    {
      [ROBOTS]: { status: 200, body: 'User-agent: *\nCrawl-delay: 1\n' },
      [`${HOME}/1`]: { status: 200, body: 'one' },
    },
    { timeoutMs: 1_500 },
  )
  // All three calls enter before the first request starts, so no forecast includes the whole queue.
  const calls = [1, 2, 3].map((n) => fetchUrl(server, { url: `${HOME}/${n}` }))
  const [first, , third] = await Promise.all(calls)
  expect(first?.isError).toBe(false)
  expect(third?.texts).toEqual([`Not fetched: the request to ${HOME}/3 was still in the queue after 1.5 s.`])
  expect(server.sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`, `${HOME}/2`])
})

test('repeated calls for a disallowed page make no further requests', async () => {
  const server = await start({ [ROBOTS]: { status: 200, body: 'User-agent: *\nDisallow: /\n' } })
  for (let n = 0; n < 5; n++) expect((await fetchUrl(server, { url: `${HOME}/page` })).isError).toBe(true)
  expect(server.sites.requestedUrls).toEqual([ROBOTS])
})

test('shortens long rules of a site and escapes its control characters (our choice)', async () => {
  const lines = [
    `Disallow: /\u001b[2J${'*'.repeat(100_000)}`,
    ...Array.from({ length: 500 }, () => 'Visit-time: 0000-2359'),
  ]
  const rules = `User-agent: *\n${lines.join('\n')}\n`
  const server = await start({ [ROBOTS]: { status: 200, body: rules } })
  const { texts, data } = await fetchUrl(server, { url: `${HOME}/\u001b[2J` })
  expect(data?.verdict?.rule?.text.length).toBeLessThan(2_000)
  expect(JSON.stringify(data).length).toBeLessThan(10_000)
  expect(texts[0]).not.toContain('\u001b')
  expect(data?.verdict?.rule?.text).toContain('\\u{1b}[2J')
})

test.each([
  ['Content-Encoding', '200 OK', 'gzip, \u009b31m', 'its Content-Encoding is "gzip, \\u{9b}31m"'],
  ['Location', '302 Found', 'ftp://x/\u009b31m', 'redirects to "ftp://x/\\u{9b}31m"'],
])('escapes control characters in the header %s', async (name, status, value, quoted) => {
  const respond: Answer = (socket) => void socket.end(`HTTP/1.1 ${status}\r\n${name}: ${value}\r\n\r\n`, 'latin1')
  const server = await start({ [`${HOME}/page`]: respond })
  const { texts, data } = await fetchUrl(server, { url: `${HOME}/page` })
  expect(texts[0]).toContain(quoted)
  expect(data?.message).toContain(quoted)
})

test('reads a gzip bomb only up to maxBodyBytes', async () => {
  const body = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'))
  const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain' }
  const server = await start({ [`${HOME}/page`]: { status: 200, headers, body } }, { maxBodyBytes: 1_000 })
  const { texts } = await fetchUrl(server, { url: `${HOME}/page` })
  expect(texts[0]).toBe(
    `${HOME}/page responded with 200, text/plain. Characters 0 to 1000 of 1000 follow. The page is longer or more deeply nested than this server reads, so its end is missing.`,
  )
  expect(texts[1]).toBe('a'.repeat(1_000))
})

test('reports that the end of a page is missing when its elements are nested too deeply', async () => {
  const body = `${'<div>'.repeat(3_000)}<p>too deep</p>`
  const server = await start({ [`${HOME}/page`]: { status: 200, headers: HTML, body } })
  const { texts } = await fetchUrl(server, { url: `${HOME}/page` })
  expect(texts).toEqual([
    `${HOME}/page responded with 200, text/html, and contains no text. The page is longer or more deeply nested than this server reads, so its end is missing.`,
  ])
})

test('reports that links have no URLs when a page has too many links for its long URL', async () => {
  const url = `${HOME}/${'a'.repeat(12_000)}`
  const body = '<a href=https://b.example/>y</a>'.repeat(2_000)
  const server = await start({ [url]: { status: 200, headers: HTML, body } })
  const { texts } = await fetchUrl(server, { url, start_index: 0, max_length: 100_000 })
  expect(texts[0]).toMatch(/ The page has too many links, so some of them are written without their URLs\.$/)
  expect(texts[1]).toMatch(/^\[y\]\(https:\/\/b\.example\/\).*yyyyy$/)
})

test('returns a page in parts with one request', async () => {
  const text = `${'a'.repeat(100)}${'b'.repeat(99)}😀${'c'.repeat(20)}`
  const server = await start({})
  server.sites.respond(`${HOME}/page`, { status: 200, headers: HTML, body: `<p>${text}</p>` }, { status: 500 })
  const part = async (start_index: number) => {
    const { texts } = await fetchUrl(server, { url: `${HOME}/page`, start_index, max_length: 100 })
    return texts
  }
  expect(await part(0)).toEqual([
    `${HOME}/page responded with 200, text/html. Characters 0 to 100 of 221 follow. For more, call again with start_index 100.`,
    'a'.repeat(100),
  ])
  // The surrogate pair at 199 stays whole.
  expect(await part(100)).toEqual([expect.stringContaining('start_index 199'), 'b'.repeat(99)])
  expect(await part(199)).toEqual([expect.stringContaining('Characters 199 to 221 of 221'), `😀${'c'.repeat(20)}`])
  expect(await part(221)).toEqual([
    `Not fetched: start_index 221 is out of range, because the text of ${HOME}/page has 221 characters.`,
  ])
  expect(server.sites.requestedUrls).toEqual([ROBOTS, `${HOME}/page`])
  // A call for the first part makes a new request.
  expect(await part(0)).toEqual([`Not fetched: ${HOME}/page responded with 500 Internal Server Error.`])
})

test('returns the page in a separate block; raw returns it unchanged', async () => {
  const body = '<title>A &amp; B</title><p>The next block has everything.</p>'
  const server = await start({ [`${HOME}/page`]: { status: 200, headers: HTML, body } })
  expect((await fetchUrl(server, { url: `${HOME}/page` })).texts).toEqual([
    `${HOME}/page responded with 200, text/html. Characters 0 to 36 of 36 follow.`,
    'A & B\nThe next block has everything.',
  ])
  expect((await fetchUrl(server, { url: `${HOME}/page`, raw: true })).texts[1]).toBe(body)
})

test.each([
  ['text/html', '<p>\u001b[2Ja&#27;b\u0000c\u009bd<pre>1\r2\r\n\t3</pre>', '[2Jabcd\n1\n2\n\t3'],
  ['text/plain', '\u001b]0;title\u0007a\b\u007f\r\n\tb\rc 👩‍👩‍👧', ']0;titlea\n\tb\nc 👩‍👩‍👧'],
])('removes the control characters of a %s page; raw keeps them', async (type, body, text) => {
  const headers = { 'content-type': `${type}; charset=utf-8` }
  const server = await start({ [`${HOME}/page`]: { status: 200, headers, body } })
  expect((await fetchUrl(server, { url: `${HOME}/page` })).texts[1]).toBe(text)
  expect((await fetchUrl(server, { url: `${HOME}/page`, raw: true })).texts[1]).toBe(body)
})

test('reports the final URL after a redirect', async () => {
  const server = await start({
    [`${HOME}/old`]: { status: 301, headers: { location: 'http://other.test:PORT/new' } },
    'http://other.test:PORT/new': { status: 200, body: 'here' },
    'http://other.test:PORT/robots.txt': { status: 200, body: '' },
  })
  expect((await fetchUrl(server, { url: `${HOME}/old` })).texts).toEqual([
    'http://other.test:PORT/new responded with 200, no media type. Characters 0 to 4 of 4 follow.',
    'here',
  ])
  expect(server.sites.requestedUrls).toEqual([
    ROBOTS,
    `${HOME}/old`,
    'http://other.test:PORT/robots.txt',
    'http://other.test:PORT/new',
  ])
})

test('reports that the server is closed', async () => {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const readers = createReaders(options)
  const client = await connectInProcess(readers)
  await readers.close()
  expect((await fetchUrl({ sites, client }, { url: `${HOME}/page` })).texts).toEqual([
    expect.stringContaining('closed'),
  ])
  await client.close()
})

test.each([
  [{ userAgent: '' }, 'userAgent'],
  [{ userAgent: '(nobody)/1.0' }, 'userAgent'],
  [{ allowAddresses: ['everything'] }, 'allowAddresses'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
  [{ maxBodyBytes: 1.5 }, 'maxBodyBytes'],
  [{ minDelayMs: -1 }, 'minDelayMs'],
  [{ retries: -1 }, 'retries'],
] as const)('validates options: %o', (wrong, option) => {
  expect(() => createReaders({ ...options, ...wrong })).toThrow(
    expect.objectContaining({ name: 'OptionError', option }),
  )
})
