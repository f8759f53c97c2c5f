// Failures: every recipe releases its permit, does not retry disallowed pages, and keeps the
// delays.
import { adapterCasesFor } from '@politely/testkit/cases/adapter-cases'
import { isFullRun } from '@politely/testkit/scope'
import type { Answer } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findRefusal } from '../demo.ts'
import { type OpenRecipe, type Recipe, recipes } from './recipes.ts'
import { errorCodes, HOME, openTestWeb, type TestWeb } from './test-web.ts'

async function openOn(web: TestWeb, { open }: Recipe): Promise<OpenRecipe['get']> {
  const recipe = open(web.gate)
  onTestFinished(async () => recipe.close?.())
  return recipe.get
}

const LARGE = 'x'.repeat(1_000_000)
const SMALL = 'x'.repeat(10_000)
const resetConnection: Answer = (socket) => socket.destroy()
const truncatedBody: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
const failures: readonly { readonly name: string; readonly path: string; readonly response?: Answer }[] = [
  { name: 'a disallowed page', path: '/private' },
  { name: 'a reset connection', path: '/page', response: resetConnection },
  { name: 'a truncated body', path: '/page', response: truncatedBody },
  { name: 'a 404 with a body', path: '/page', response: { status: 404, body: LARGE } },
  { name: 'a 500 with a body', path: '/page', response: { status: 500, body: LARGE } },
  {
    name: 'a redirect with a body',
    path: '/page',
    response: { status: 302, headers: { location: '/open' }, body: SMALL },
  },
  { name: 'a redirect loop', path: '/page', response: { status: 302, headers: { location: '/page' }, body: SMALL } },
  {
    name: 'a redirect to a disallowed page',
    path: '/page',
    response: { status: 302, headers: { location: '/private' } },
  },
  {
    name: 'a redirect to an invalid URL',
    path: '/page',
    response: { status: 302, headers: { location: 'http://:0' } },
  },
]

/** Every fourth recipe in the short run. contract.test.ts runs all of them. */
const tested = isFullRun ? recipes : recipes.filter((_, i) => i % 4 === 0)

describe.each(tested)('$name', (recipe) => {
  test.each(failures)('releases its permit after $name', async ({ path, response }) => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    if (response !== undefined) web.sites.respond(HOME + path, response)
    await get(web.sites.withPort(HOME + path), { retries: 0 }).catch(() => undefined)
    await web.gate.drain()
    expect(web.gate.queues()).toEqual([])
    await expect(get(web.sites.withPort(`${HOME}/open`))).resolves.toBe(200)
  })

  test.each(['/private', '/moved'])('does not retry a disallowed page: %s', async (path) => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    web.sites.respond(`${HOME}/moved`, { status: 302, headers: { location: '/private' } })
    const error = await get(web.sites.withPort(HOME + path)).catch((error: unknown) => error)
    expect(findRefusal(error)?.verdict.because).toBe('rule')
    expect(web.gate.counters.refusals).toEqual({ rule: 1 })
  })

  test('sends the User-Agent of the crawler', async () => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    await get(web.sites.withPort(`${HOME}/open`))
    expect(web.sites.requests.map(({ headers }) => headers['user-agent'])).toEqual(['RecipeBot/1.0', 'RecipeBot/1.0'])
  })

  test('does not time out during a minute in the queue', async () => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    const permit = await web.gate.enter(web.sites.withPort(`${HOME}/first`))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const response = get(web.sites.withPort(`${HOME}/open`), { retries: 0 })
    await vi.waitUntil(async () => {
      await vi.advanceTimersByTimeAsync(1) // node-crawler uses a timer to schedule the request
      return web.gate.queues()[0]?.waiting === 1
    })
    await vi.advanceTimersByTimeAsync(60_000)
    permit.release()
    vi.useRealTimers()
    await expect(response).resolves.toBe(200)
  })

  test('delays the next request after Retry-After', async () => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    web.sites.respond(`${HOME}/page`, { status: 429, headers: { 'retry-after': '60' } })
    await get(web.sites.withPort(`${HOME}/page`), { retries: 0 }).catch(() => undefined)
    const next = await web.gate.when(web.sites.withPort(`${HOME}/open`))
    expect(next).toMatchObject({ allowed: true, because: 'retry-after' })
  })

  test.each([
    { what: 'gate', code: 'ERR_POLITELY_GATE_CLOSED' },
    { what: 'robots', code: 'ERR_POLITELY_CLIENT_CLOSED' },
  ] as const)('rejects without a request when $what is closed', async ({ what, code }) => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    await web[what].close()
    const error = await get(web.sites.withPort(`${HOME}/open`), { retries: 0 }).catch((error: unknown) => error)
    expect(errorCodes(error)).toContain(code)
    expect(web.sites.requestedUrls).toEqual([])
  })
})

describe.each(tested.filter(({ retries }) => retries))('$name', (recipe) => {
  test('its own retries pass the gate again', { tags: 'full' }, async () => {
    const web = await openTestWeb({ minDelayMs: 2_500 }) // longer than the delay of each library before its first retry
    const get = await openOn(web, recipe)
    web.sites.respond(`${HOME}/page`, resetConnection, { status: 200, body: '<title>a page</title>' })
    await expect(get(web.sites.withPort(`${HOME}/page`))).resolves.toBe(200)
    const { started, waits } = web.gate.counters
    expect({ started, waits: waits['own-delay'] }).toEqual({ started: 2, waits: 1 })
  })
})

const acceptsSignal = ({ name }: Recipe) => adapterCasesFor(name).some(({ capability }) => capability === 'abort works')

describe.each(tested.filter(acceptsSignal))('$name', (recipe) => {
  test('releases its permit when a pending request is aborted', async () => {
    const web = await openTestWeb()
    const get = await openOn(web, recipe)
    web.sites.respond(`${HOME}/slow`, new Promise(() => undefined))
    const controller = new AbortController()
    const response = get(web.sites.withPort(`${HOME}/slow`), { signal: controller.signal })
    await web.sites.requested(2) // robots.txt and the page
    controller.abort()
    await expect(response).rejects.toThrow()
    await web.gate.drain()
    expect(web.gate.counters).toMatchObject({ started: 1, done: 1 })
  })
})
