// @module-tag full
// Tests the server in a child process, over stdin and stdout.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { connectStdio, type StdioServer } from './connect.ts'

const HOME = 'http://localhost:PORT'
const ROBOTS = `${HOME}/robots.txt`
const ARGS = [
  '--user-agent',
  'ExampleMCP/1.0 (+https://example.com/mcp)',
  '--allow-address',
  '127.0.0.0/8',
  '--min-delay',
  '0',
  '--timeout',
  '100',
]
const AUTONOMOUS = 'ExampleMCP-Autonomous/1.0 (+https://example.com/mcp)'
const USER = 'ExampleMCP-User/1.0 (+https://example.com/mcp)'

let sites: Sites
beforeEach(async () => {
  sites = await startSites()
})
afterEach(() => sites.close())

/** Starts a server for one test. */
async function start(args: readonly string[] = ARGS): Promise<StdioServer> {
  const server = await connectStdio(args)
  onTestFinished(() => server.client.close())
  return server
}

const page = (body: string) => ({ status: 200, headers: { 'content-type': 'text/html' }, body })
const robots = (body: string) => ({ status: 200, body })

/** Calls fetch_url and returns the last text of the result. */
async function fetchUrl(
  { client }: StdioServer,
  path: string,
  options?: Parameters<StdioServer['client']['callTool']>[1],
) {
  const { isError, content } = await client.callTool(
    { name: 'fetch_url', arguments: { url: sites.withPort(HOME + path) } },
    options,
  )
  const last = content.at(-1)
  return { isError: isError === true, text: last?.type === 'text' ? last.text : '' }
}

const REVISIONS = ['2026-07-28', '2025-11-25'] as const

describe.each(REVISIONS)('in MCP %s', (revision) => {
  let server: StdioServer
  beforeAll(async () => {
    server = await connectStdio(ARGS, revision)
  })
  afterAll(() => server.client.close())

  test('a site can write separate rules for requests of the model and of a person (our choice)', async () => {
    sites.respond(ROBOTS, robots('User-agent: ExampleMCP-User\nDisallow: /people\n\nUser-agent: *\nDisallow: /all\n'))
    sites.respond(`${HOME}/all`, page('for people'))
    sites.respond(`${HOME}/people`, page('for machines'))
    const prompted = async (path: string) => {
      const { messages } = await server.client.getPrompt({
        name: 'fetch',
        arguments: { url: sites.withPort(HOME + path) },
      })
      return messages.map(({ role, content }) => `${role}: ${content.type === 'text' ? content.text : ''}`)
    }
    expect((await fetchUrl(server, '/all')).text).toContain('says "Disallow: /all" to *')
    expect((await fetchUrl(server, '/people')).text).toBe('for machines')
    expect(await prompted('/all')).toEqual([
      expect.stringMatching(/^user: .* responded with 200, text\/html\. Characters 0 to 10 of 10 follow\.$/),
      'user: for people',
    ])
    expect(await prompted('/people')).toEqual([
      expect.stringMatching(/^user: Not fetched: .* says "Disallow: \/people" to ExampleMCP-User\./),
    ])
    expect(sites.requests.map(({ url, headers }) => [url, headers['user-agent']])).toEqual([
      [ROBOTS, AUTONOMOUS],
      [`${HOME}/people`, AUTONOMOUS],
      [ROBOTS, USER],
      [`${HOME}/all`, USER],
    ])
  })

  test('sends progress that only grows to clients that ask for it', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nCrawl-delay: 3\n'))
    for (const path of ['/1', '/2']) sites.respond(HOME + path, page(path))
    await fetchUrl(server, '/1')
    const notifications: { readonly progress: number; readonly message?: string | undefined }[] = []
    await fetchUrl(server, '/2', { onprogress: (progress) => void notifications.push(progress) })
    const messages = notifications.map(({ message = '' }) =>
      message.replace(/:\d+/, ':PORT').replace(/about .*? s/, 'about T'),
    )
    expect([...new Set(messages)]).toEqual([
      'waiting for robots.txt',
      `waiting to start the request to ${HOME}: about T (crawl-delay, requests ahead: 0)`,
      'waiting for the page',
    ])
    expect(messages.length).toBeGreaterThan(3) // one each second
    const steps = notifications.map(({ progress }) => progress)
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b))
  })

  test('removes a cancelled call from the queue', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nCrawl-delay: 60\n'))
    sites.respond(`${HOME}/1`, page('one'))
    const queueLength = async () => {
      const url = sites.withPort(`${HOME}/3`)
      const { structuredContent } = await server.client.callTool({ name: 'may_fetch', arguments: { url } })
      return (structuredContent as { ahead: number }).ahead
    }
    await fetchUrl(server, '/1')
    const controller = new AbortController()
    const queued = Promise.withResolvers<void>()
    const second = fetchUrl(server, '/2', {
      signal: controller.signal,
      onprogress: ({ message }) => message?.includes('start the request') && queued.resolve(),
    })
    await queued.promise
    expect(await queueLength()).toBe(1)
    controller.abort(new Error('cancelled'))
    await expect(second).rejects.toThrow('cancelled')
    expect(await queueLength()).toBe(0)
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`])
  })

  test('paces 20 concurrent calls for one site', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nCrawl-delay: 0.1\n'))
    const paths = Array.from({ length: 20 }, (_, n) => `/${n}`)
    for (const path of paths) sites.respond(HOME + path, page(path))
    const texts = await Promise.all(paths.map(async (path) => (await fetchUrl(server, path)).text))
    expect(texts).toEqual(paths)
    // The first request starts after robots.txt. It may arrive late, so the delays count
    // from the arrival of the request for robots.txt.
    const [robotsAt, lastAt] = [sites.requests[0]?.at ?? 0, sites.requests.at(-1)?.at ?? 0]
    expect(lastAt - robotsAt).toBeGreaterThanOrEqual(19 * 100)
    expect(sites.requestedUrls.filter((url) => url === ROBOTS)).toHaveLength(1)
  })

  test('both User-Agents share one delay (our choice)', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nCrawl-delay: 2\n'))
    for (const path of ['/1', '/2']) sites.respond(HOME + path, page(path))
    const url = sites.withPort(`${HOME}/2`)
    await Promise.all([fetchUrl(server, '/1'), server.client.getPrompt({ name: 'fetch', arguments: { url } })])
    expect(sites.requestedUrls.filter((url) => url !== ROBOTS)).toHaveLength(2)
    const [robotsAt, lastAt] = [sites.requests[0]?.at ?? 0, sites.requests.at(-1)?.at ?? 0]
    expect(lastAt - robotsAt).toBeGreaterThanOrEqual(2_000)
  })

  test('may_fetch reports the verdict and the wait, and does not request the page', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nDisallow: /private\nCrawl-delay: 60\n'))
    sites.respond(`${HOME}/1`, page('one'))
    const { client } = server
    const mayFetch = async (url: string) => {
      const { isError, structuredContent } = await client.callTool({
        name: 'may_fetch',
        arguments: { url: sites.withPort(url) },
      })
      return { isError: isError === true, ...(structuredContent as { message: string }) }
    }
    expect(await mayFetch(`${HOME}/1`)).toMatchObject({ isError: false, allowed: true, waitMs: 0, because: 'none' })
    await client.callTool({ name: 'fetch_url', arguments: { url: sites.withPort(`${HOME}/1`) } })
    expect(await mayFetch(`${HOME}/2`)).toMatchObject({
      allowed: true,
      because: 'crawl-delay',
      message: expect.stringMatching(
        /may be fetched in about (60|5[0-9]) s \(crawl-delay, requests ahead: 0\)\. It is allowed: /,
      ),
    })
    expect(await mayFetch(`${HOME}/private`)).toMatchObject({
      isError: false,
      allowed: false,
      verdict: { because: 'rule', rule: { line: 2 } },
    })
    expect(await mayFetch('nonsense')).toMatchObject({ isError: true, reason: 'url' })
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`])
  })

  test('returns protocol errors for invalid tool and prompt names and arguments', async () => {
    const { client } = server
    await expect(client.callTool({ name: 'fetch_it', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    await expect(client.getPrompt({ name: 'fetch', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    const { isError } = await client.callTool({ name: 'fetch_url', arguments: { url: 5 } })
    expect(isError).toBe(true)
  })
})

test('does not connect to private addresses without --allow-address (our choice)', async () => {
  const server = await start(['--user-agent', 'ExampleMCP/1.0'])
  expect(await fetchUrl(server, '/')).toEqual({
    isError: true,
    text: expect.stringContaining('This server connects to public addresses only.'),
  })
  expect(sites.connections).toEqual([])
})

test('rejects pending calls when the server process dies', async () => {
  sites.respond(`${HOME}/1`, new Promise(() => undefined))
  const server = await start()
  const call = fetchUrl(server, '/1')
  await sites.requested(2)
  process.kill(server.transport.pid ?? 0)
  await expect(call).rejects.toThrow('Connection closed')
})

describe('the command line', () => {
  async function run(args: readonly string[]) {
    const main = join(import.meta.dirname, '../src/main.ts')
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], { timeout: 60_000 })
    const printed = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (printed.stdout += chunk))
    child.stderr.on('data', (chunk) => (printed.stderr += chunk))
    return { child, printed, ended: once(child, 'close').then(([status]) => status as number | null) }
  }

  const named = ['--user-agent', 'ExampleMCP/1.0']
  const wrong: [readonly string[], RegExp][] = [
    [
      [],
      /^politely-mcp: --user-agent: is missing; write one such as "YourMCP\/1\.0 \(\+https:\/\/your\.site\/mcp\)"\n/,
    ],
    [
      [...named, '--timeout', '2147484'],
      /--timeout: "2147484" is invalid; expected a number of seconds from 0.001 to 2147483, such/,
    ],
    [[...named, '--timeout', '0'], /--timeout: "0" is invalid; expected a number of seconds from 0.001/],
    [[...named, '--timeout', 'soon'], /--timeout: "soon" is invalid; expected a number of seconds/],
    [['--agent', 'x'], /--agent/],
    [['--user-agent', ''], /userAgent: /],
  ]
  test.each(wrong)('rejects %o with one line', async (args, message) => {
    const { printed, ended } = await run(args)
    expect(await ended).toBe(2)
    expect(printed.stderr).toMatch(message)
    expect(printed.stderr).not.toContain('    at ')
    expect(printed.stdout).toBe('')
  })

  test('--help lists the options', async () => {
    const { printed, ended } = await run(['--help'])
    expect(await ended).toBe(0)
    for (const option of ['--user-agent', '--allow-address', '--min-delay', '--timeout']) {
      expect(printed.stdout).toContain(option)
    }
  })

  test('writes only JSON-RPC to stdout, and exits when stdin closes, even with pending calls', async () => {
    sites.respond(ROBOTS, robots('User-agent: *\nCrawl-delay: 60\n'))
    sites.respond(`${HOME}/1`, page('one'))
    sites.respond('http://127.0.0.1:PORT/robots.txt', new Promise(() => undefined))
    const { child, printed, ended } = await run(['--user-agent', 'ExampleMCP/1.0', '--allow-address', '127.0.0.0/8'])
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    send({ id: 1, method: 'initialize', params })
    send({ method: 'notifications/initialized' })
    const call = (id: number, url: string) =>
      send({ id, method: 'tools/call', params: { name: 'fetch_url', arguments: { url: sites.withPort(url) } } })
    call(2, `${HOME}/1`)
    await sites.requested(2)
    call(3, `${HOME}/2`)
    call(4, 'http://127.0.0.1:PORT/')
    await sites.requested(3)
    child.stdin.end()
    expect(await ended).toBe(0)
    const lines = printed.stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).jsonrpc)).toEqual(lines.map(() => '2.0'))
    expect(printed.stderr).toBe('')
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`, 'http://127.0.0.1:PORT/robots.txt'])
  })
})
