// What a model is told of each thing that can go wrong, and what the sites see of it.
import type { LookupFunction } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Client } from '@modelcontextprotocol/client'
import { lookupIn } from '@politely/testkit/lookup'
import { type Answer, type Sites, startSites } from '@politely/testkit/sites'
import { expect, onTestFinished, test } from 'vitest'
import { createReaders, type ReadersOptions } from '../readers.ts'
import { connectHere } from './connect.ts'

const HOME = 'http://home.test:PORT'
const ROBOTS = `${HOME}/robots.txt`
const HTML = { 'content-type': 'text/html' }

const options: ReadersOptions = {
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
  change: Partial<ReadersOptions> = {},
): Promise<{ sites: Sites; client: Client }> {
  const sites = await startSites()
  for (const [url, answer] of Object.entries(web)) sites.answer(url, answer)
  const readers = createReaders({ ...options, ...change })
  const client = await connectHere(readers)
  onTestFinished(async () => {
    await client.close()
    await readers.close()
    await sites.close()
  })
  return { sites, client }
}

/** Calls the tool; texts with `:PORT`. */
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

interface Failing {
  readonly name: string
  readonly web?: Readonly<Record<string, Answer>>
  readonly url: string
  readonly options?: Partial<ReadersOptions>
  readonly says: string | RegExp
  readonly reason: string
  readonly asked?: readonly string[]
}

/** Answers with one address after another; the last one stays. */
function leadingTo(...addresses: readonly string[]): LookupFunction {
  let asked = 0
  return (host, options, callback) => {
    const address = addresses[Math.min(asked++, addresses.length - 1)] ?? ''
    lookupIn({ [host]: address })(host, options, callback)
  }
}

const never: Answer = () => undefined
const asked = [ROBOTS, `${HOME}/page`]
const failing: readonly Failing[] = [
  { name: 'nothing', url: '', reason: 'url', says: /"" cannot be fetched: no URL was given/ },
  { name: 'a path', url: '/page', reason: 'url', says: /has no scheme and host; write it whole/ },
  { name: 'no URL', url: 'http://[', reason: 'url', says: /this is not a URL/ },
  { name: 'ftp', url: 'ftp://home.test/', reason: 'url', says: /only http and https are spoken here/ },
  { name: 'a file', url: 'file:///etc/passwd', reason: 'url', says: /only http and https are spoken here/ },
  { name: 'data', url: 'data:text/plain,hello', reason: 'url', says: /only http and https are spoken here/ },
  { name: 'a password', url: 'http://a:b@home.test/', reason: 'url', says: /has a user name or password in it/ },
  {
    name: 'RFC 9309 §2.2.2: a page that a rule disallows',
    web: { [ROBOTS]: { status: 200, body: 'User-agent: *\nDisallow: /page\n' } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    says: `Not fetched: ${HOME}/page is disallowed: line 2 of robots.txt says "Disallow: /page" to *. Its robots.txt is ${ROBOTS}. The site asks automatic clients to leave it alone, so do not look for another way to it; a person can open it in a browser.`,
    asked: [ROBOTS],
  },
  {
    name: 'RFC 9309 §2.3.1.4: a site whose robots.txt is unreachable',
    web: { [ROBOTS]: { status: 503 } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    says: /is unreachable \(status 503\).* nothing may be fetched there now\. It makes sense to ask again in \d+ s\.$/,
    asked: [ROBOTS],
  },
  {
    name: 'a host that has no address',
    url: 'http://gone.test/page',
    reason: 'robots.txt',
    says: /unreachable \(dns: .*The name of the host may be wrong\./,
  },
  {
    name: 'a resolver that does not answer',
    url: 'http://busy.test/page',
    reason: 'robots.txt',
    says: /unreachable \(dns-unavailable: .*nothing may be fetched there now\./,
  },
  {
    name: '404',
    web: { [`${HOME}/page`]: { status: 404 } },
    url: `${HOME}/page`,
    reason: 'status',
    says: `Not fetched: ${HOME}/page answered 404 Not Found.`,
    asked,
  },
  {
    name: '429, with the pause that it asks for',
    web: { [`${HOME}/page`]: { status: 429, headers: { 'retry-after': '30' } } },
    url: `${HOME}/page`,
    reason: 'status',
    says: `Not fetched: ${HOME}/page answered 429 Too Many Requests. It makes sense to ask again in 30 s.`,
    asked,
  },
  {
    name: 'an image',
    web: { [`${HOME}/page`]: { status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' } },
    url: `${HOME}/page`,
    reason: 'media-type',
    says: `Not fetched: ${HOME}/page is image/png; only text is read here.`,
    asked,
  },
  {
    name: 'a connection that breaks',
    web: { [`${HOME}/page`]: (socket) => socket.destroy() },
    url: `${HOME}/page`,
    reason: 'network',
    says: `Not fetched: ${HOME}/page could not be fetched: other side closed.`,
    asked,
  },
  {
    name: 'a body that ends early',
    web: { [`${HOME}/page`]: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf') },
    url: `${HOME}/page`,
    reason: 'network',
    says: `Not fetched: ${HOME}/page could not be fetched: other side closed.`,
    asked,
  },
  {
    name: 'a body that does not decode',
    web: { [`${HOME}/page`]: { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' } },
    url: `${HOME}/page`,
    reason: 'network',
    says: `Not fetched: ${HOME}/page could not be fetched: incorrect header check.`,
    asked,
  },
  {
    name: 'a redirect to a file',
    web: { [`${HOME}/page`]: { status: 302, headers: { location: 'file:///etc/passwd' } } },
    url: `${HOME}/page`,
    reason: 'network',
    says: /redirects to "file:\/\/\/etc\/passwd", which is not an http or https URL/,
    asked,
  },
  {
    name: 'a redirect to a private address',
    web: { [`${HOME}/page`]: { status: 302, headers: { location: 'http://10.0.0.1/admin' } } },
    url: `${HOME}/page`,
    reason: 'robots.txt',
    says: /10\.0\.0\.1\/admin is disallowed: .*not a public address.* Only public addresses are reached from here\.$/,
    asked,
  },
  {
    name: 'a name that leads elsewhere when robots.txt has been read',
    url: 'http://rebound.test:PORT/page',
    options: { lookup: leadingTo('127.0.0.1', '127.0.0.2'), allowAddresses: ['127.0.0.1'] },
    reason: 'network',
    says: /could not be fetched: rebound\.test is at 127\.0\.0\.2, which is not a public address\.$/,
    asked: ['http://rebound.test:PORT/robots.txt'],
  },
  {
    name: 'a page that does not come',
    web: { [`${HOME}/page`]: never },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    says: `Not fetched: ${HOME}/page was not there within 1 s.`,
    asked,
  },
  {
    name: 'a page that does not end',
    web: { [`${HOME}/page`]: (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf') },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    says: `Not fetched: ${HOME}/page was not there within 1 s.`,
    asked,
  },
  {
    name: 'a robots.txt that does not come',
    web: { [ROBOTS]: never },
    url: `${HOME}/page`,
    options: { timeoutMs: 1_000 },
    reason: 'timeout',
    says: `Not fetched: the robots.txt for ${HOME}/page did not come within 1 s.`,
    asked: [ROBOTS],
  },
]

test.each(failing)('fetch_url, $name', async ({ web = {}, url, options: change, says, reason, asked = [] }) => {
  const server = await start(web, change)
  const { isError, texts, data } = await fetchUrl(server, { url })
  expect(texts).toEqual([typeof says === 'string' ? says : expect.stringMatching(says)])
  expect(data?.message.replaceAll(`:${server.sites.port}`, ':PORT')).toBe(texts[0])
  expect(data?.reason).toBe(reason)
  expect(isError).toBe(true)
  expect(server.sites.asked).toEqual(asked)
})

test.each([
  'http://127.0.0.1:PORT/page',
  'http://localhost:PORT/page',
  'http://private.test:PORT/page',
  'http://[::ffff:127.0.0.1]:PORT/page',
  'http://2130706433:PORT/page',
])('our choice, of private addresses none is reached unless it is allowed: %s', async (url) => {
  const server = await start({}, { allowAddresses: [] })
  const { isError, texts } = await fetchUrl(server, { url })
  expect(isError).toBe(true)
  expect(texts[0]).toContain('Only public addresses are reached from here.')
  expect(server.sites.connections).toEqual([])
})

test('our choice, a turn that is too far off is not waited for, and the model is told when to come', async () => {
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
    /^Not fetched: the turn of .*\/2 comes in 60 s \(crawl-delay, 0 before it\), and a call waits 20 s/,
  )
  expect(data?.reason).toBe('turn')
  expect(data?.retryAfterMs).toBeGreaterThan(50_000)
  expect(server.sites.asked).toEqual([ROBOTS, `${HOME}/1`])
})

test('our choice, a turn that does not come in time is given up, and costs nobody else one', async () => {
  const server = await start(
    {
      [ROBOTS]: { status: 200, body: 'User-agent: *\nCrawl-delay: 1\n' },
      [`${HOME}/1`]: { status: 200, body: 'one' },
    },
    { timeoutMs: 1_500 },
  )
  // All come before the first has left, so that none can know how long the queue will be.
  const calls = [1, 2, 3].map((n) => fetchUrl(server, { url: `${HOME}/${n}` }))
  const [first, , third] = await Promise.all(calls)
  expect(first?.isError).toBe(false)
  expect(third?.texts).toEqual([`Not fetched: the turn of ${HOME}/3 did not come within 1.5 s.`])
  expect(server.sites.asked).toEqual([ROBOTS, `${HOME}/1`, `${HOME}/2`])
})

test('a refusal that is asked for again and again costs the site nothing', async () => {
  const server = await start({ [ROBOTS]: { status: 200, body: 'User-agent: *\nDisallow: /\n' } })
  for (let n = 0; n < 5; n++) expect((await fetchUrl(server, { url: `${HOME}/page` })).isError).toBe(true)
  expect(server.sites.asked).toEqual([ROBOTS])
})

test('our choice, a site cannot fill a conversation by its rules, nor send signs to a terminal', async () => {
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
})

test('a gzip bomb is read as far as any page is', async () => {
  const body = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'))
  const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain' }
  const server = await start({ [`${HOME}/page`]: { status: 200, headers, body } }, { maxBodyBytes: 1_000 })
  const { texts } = await fetchUrl(server, { url: `${HOME}/page` })
  expect(texts[0]).toBe(
    `${HOME}/page answered 200, text/plain. Characters 0 to 1000 of 1000 follow. The page is longer than is read here: its end is missing.`,
  )
  expect(texts[1]).toBe('a'.repeat(1_000))
})

test('a page is read part by part, and asked for once', async () => {
  const text = `${'a'.repeat(100)}${'b'.repeat(99)}😀${'c'.repeat(20)}`
  const server = await start({})
  server.sites.answer(`${HOME}/page`, { status: 200, headers: HTML, body: `<p>${text}</p>` }, { status: 500 })
  const part = async (start_index: number) => {
    const { texts } = await fetchUrl(server, { url: `${HOME}/page`, start_index, max_length: 100 })
    return texts
  }
  expect(await part(0)).toEqual([
    `${HOME}/page answered 200, text/html. Characters 0 to 100 of 221 follow. For more, call again with start_index 100.`,
    'a'.repeat(100),
  ])
  // No character is cut in half.
  expect(await part(100)).toEqual([expect.stringContaining('start_index 199'), 'b'.repeat(99)])
  expect(await part(199)).toEqual([expect.stringContaining('Characters 199 to 221 of 221'), `😀${'c'.repeat(20)}`])
  expect(await part(221)).toEqual([
    `Not fetched: start_index 221 is past the end, since the text of ${HOME}/page has 221 characters.`,
  ])
  expect(server.sites.asked).toEqual([ROBOTS, `${HOME}/page`])
  // From the beginning it is another reading.
  expect(await part(0)).toEqual([`Not fetched: ${HOME}/page answered 500 Internal Server Error.`])
})

test('what a page says stands apart from what is said about it; raw is as it came', async () => {
  const body = '<title>A &amp; B</title><p>The next block has everything.</p>'
  const server = await start({ [`${HOME}/page`]: { status: 200, headers: HTML, body } })
  expect((await fetchUrl(server, { url: `${HOME}/page` })).texts).toEqual([
    `${HOME}/page answered 200, text/html. Characters 0 to 36 of 36 follow.`,
    'A & B\nThe next block has everything.',
  ])
  expect((await fetchUrl(server, { url: `${HOME}/page`, raw: true })).texts[1]).toBe(body)
})

test('a redirect is told by where the page was', async () => {
  const server = await start({
    [`${HOME}/old`]: { status: 301, headers: { location: 'http://other.test:PORT/new' } },
    'http://other.test:PORT/new': { status: 200, body: 'here' },
    'http://other.test:PORT/robots.txt': { status: 200, body: '' },
  })
  expect((await fetchUrl(server, { url: `${HOME}/old` })).texts).toEqual([
    'http://other.test:PORT/new answered 200, no media type. Characters 0 to 4 of 4 follow.',
    'here',
  ])
  expect(server.sites.asked).toEqual([
    ROBOTS,
    `${HOME}/old`,
    'http://other.test:PORT/robots.txt',
    'http://other.test:PORT/new',
  ])
})

test('a closed server says so', async () => {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const readers = createReaders(options)
  const client = await connectHere(readers)
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
  [{ maxBodyBytes: 1.5 }, 'maxBodyBytes'],
  [{ minDelayMs: -1 }, 'minDelayMs'],
  [{ retries: -1 }, 'retries'],
] as const)('options are looked at first: %o', (wrong, option) => {
  expect(() => createReaders({ ...options, ...wrong })).toThrow(
    expect.objectContaining({ name: 'OptionError', option }),
  )
})
