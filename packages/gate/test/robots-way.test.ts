// @module-tag nodes
// @module-tag process
// robots.txt takes the way that pages take: with mocks, stubs and proxies, each the real one.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { expectTables } from '@politely/testkit/doc-page'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { receivers, type Seen, type WayCase, wayCases, withServer } from './robots-way-cases.ts'

const PROXY_VARIABLES = /^(https?|no|all|node_use_env)_proxy$/i
const withoutProxy = Object.fromEntries(Object.entries(process.env).filter(([name]) => !PROXY_VARIABLES.test(name)))

/** Runs cases in a process of their own. */
async function runInChild(cases: readonly WayCase[], env = {}, args: readonly string[] = []): Promise<readonly Seen[]> {
  const child = join(import.meta.dirname, 'robots-way-child.ts')
  const numbers = cases.map((one) => String(wayCases.indexOf(one)))
  const { stdout } = await promisify(execFile)(process.execPath, [...args, child, ...numbers], {
    env: { ...withoutProxy, ...env },
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Seen)
}

function runThroughEnvironment(one: WayCase): Promise<Seen> {
  receivers.length = 0
  return withServer('the proxy', async (proxy) => {
    const [seen] = await runInChild([one], { HTTP_PROXY: proxy, ...one.node?.env }, one.node?.args)
    return { ...(seen as Seen), receivers: [...receivers] }
  })
}

const inOneProcess = wayCases.filter(({ node }) => node === undefined)
let running: Promise<readonly Seen[]> | undefined

async function run(one: WayCase): Promise<Seen> {
  if (one.node !== undefined) return runThroughEnvironment(one)
  running ??= runInChild(inOneProcess)
  return (await running)[inOneProcess.indexOf(one)] as Seen
}

/** Node 22 has it since 22.21. */
const hasEnvProxy = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
const runnable = wayCases.filter(({ node, receiver }) => hasEnvProxy || node === undefined || receiver !== 'the proxy')

test.for(runnable.map((one) => [one.name, one] as const))('%s', { tags: 'full' }, async ([, one]) => {
  const { because, detail, via, receivers } = await run(one)
  const found = ['the network', 'nothing'].includes(one.receiver) ? [] : [one.receiver]
  expect({ via, receivers, because, detail }).toEqual({
    via: one.via,
    receivers: found,
    because: one.detail === undefined ? 'rule' : 'unreachable',
    detail: one.detail === undefined ? undefined : expect.stringContaining(one.detail),
  })
})

test('docs/fetching.md contains these cases', { tags: 'page' }, async () => {
  const rows = wayCases.map(({ name, receiver, via, detail }) => [
    name,
    detail === undefined ? receiver : `${receiver}; the verdict says why`,
    `\`${via}\``,
  ])
  await expectTables('docs/fetching.md', { head: ['set-up', 'what gets the request for robots.txt', '`via`'], rows })
})

const userAgent = 'ExampleBot/1.0'
const stub = (robots: Response) =>
  vi.fn(async (url: string) => (url.endsWith('/robots.txt') ? robots.clone() : new Response('a page')))

describe("vi.stubGlobal('fetch', …)", () => {
  test('a stub that is set after the gate was created gets robots.txt', async () => {
    const robots = new RobotsClient({ userAgent })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    const fetch = politely((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args), { gate })
    onTestFinished(async () => {
      vi.unstubAllGlobals()
      gate.close()
      await robots.close()
    })
    const stubbed = stub(new Response('User-agent: *\nDisallow: /private'))
    vi.stubGlobal('fetch', stubbed)
    expect(await (await fetch('https://site.example/page')).text()).toBe('a page')
    await expect(fetch('https://site.example/private')).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(stubbed.mock.calls.map(([url]) => url)).toEqual([
      'https://site.example/robots.txt',
      'https://site.example/page',
    ])
    expect(await robots.inspect('https://site.example/')).toMatchObject({ via: 'global-fetch' })
  })

  test('without a stub the client uses its own connections again', async () => {
    const robots = new RobotsClient({ userAgent })
    onTestFinished(() => robots.close())
    const via = async () => ((await robots.inspect('https://site.example/')) as { via?: string }).via
    expect(await via()).toBe('own')
    vi.stubGlobal('fetch', stub(new Response('')))
    expect(await via()).toBe('global-fetch')
    vi.unstubAllGlobals()
    expect(await via()).toBe('own')
  })
})

test('the options of the client decide, for a client that the caller made', async () => {
  const pages = stub(new Response('User-agent: *\nDisallow: /'))
  const own = stub(new Response(''))
  const robots = new RobotsClient({ userAgent, fetch: own as unknown as typeof globalThis.fetch })
  const fetch = politely(pages, { robots, minDelayMs: 0 })
  onTestFinished(() => Promise.all([fetch.close(), robots.close()]).then(() => undefined))
  expect(await (await fetch('https://site.example/page' as never)).text()).toBe('a page')
  expect(own).toHaveBeenCalledOnce()
  expect(pages).toHaveBeenCalledOnce()
  expect(await robots.inspect('https://site.example/')).toMatchObject({ via: 'fetch' })
})

test('a wrapped fetch that cannot send robots.txt is told from a failure of the site', async () => {
  const fetch = politely(async () => ({ status: 200, headers: new Headers(), body: undefined as never }), { userAgent })
  onTestFinished(() => fetch.close())
  const verdict = await fetch.gate.robots.check('https://site.example/page')
  expect(verdict.access).toMatchObject({
    reason: 'unusable-transport',
    detail: expect.stringMatching(/must return a Response.*; or write robotsVia: 'own'/),
  })
})

test('the log says once that requests for robots.txt leave the own connections', async () => {
  const lines: string[] = []
  const logger = { info: (line: string) => void lines.push(line) }
  const fetch = politely(stub(new Response('')), { userAgent, logger, minDelayMs: 0 })
  onTestFinished(() => fetch.close())
  for (const site of ['a', 'b']) await fetch.gate.robots.check(`https://${site}.example/`)
  expect(lines).toEqual([
    'robots.txt is read for ExampleBot (the name comes from the option userAgent)',
    "requests for robots.txt go through the fetch for pages, as pages do; the network guard sees only their URLs (robotsVia: 'own' prevents this)",
    expect.stringMatching(/^https:\/\/a.example/),
    expect.stringMatching(/^https:\/\/b.example/),
  ])
})
