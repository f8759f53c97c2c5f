// What becomes of the recipes when something fails: no place is kept, no refusal is tried again, and the pace is heeded.
import { adapterCasesFor } from '@politely/testkit/adapter-cases'
import type { Answer } from '@politely/testkit/sites'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { refusalIn } from '../small-web.ts'
import { codesIn, HOME, type NarrowWeb, openNarrowWeb } from './kit.ts'
import { type OpenRecipe, type Recipe, recipes } from './recipes.ts'

async function openOn(web: NarrowWeb, { open }: Recipe): Promise<OpenRecipe['get']> {
  const recipe = open(web.gate)
  onTestFinished(async () => recipe.close?.())
  return recipe.get
}

const LARGE = 'x'.repeat(1_000_000)
const SMALL = 'x'.repeat(10_000)
const broken: Answer = (socket) => socket.destroy()
const cutOff: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
const failures: readonly { readonly name: string; readonly path: string; readonly answer?: Answer }[] = [
  { name: 'a refusal', path: '/private' },
  { name: 'a connection that breaks', path: '/page', answer: broken },
  { name: 'a body that breaks off', path: '/page', answer: cutOff },
  { name: 'a 404 with a body', path: '/page', answer: { status: 404, body: LARGE } },
  { name: 'a 500 with a body', path: '/page', answer: { status: 500, body: LARGE } },
  {
    name: 'a redirect with a body',
    path: '/page',
    answer: { status: 302, headers: { location: '/open' }, body: SMALL },
  },
  { name: 'a loop', path: '/page', answer: { status: 302, headers: { location: '/page' }, body: SMALL } },
  {
    name: 'a redirect to what is disallowed',
    path: '/page',
    answer: { status: 302, headers: { location: '/private' } },
  },
  { name: 'a redirect to nowhere', path: '/page', answer: { status: 302, headers: { location: 'http://:0' } } },
]

describe.each(recipes)('$name', (recipe) => {
  test.each(failures)('gives its place back after $name', async ({ path, answer }) => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    if (answer !== undefined) web.sites.answer(HOME + path, answer)
    await get(web.sites.withPort(HOME + path), { retries: 0 }).catch(() => undefined)
    await web.gate.drain()
    expect(web.gate.queues()).toEqual([])
    await expect(get(web.sites.withPort(`${HOME}/open`))).resolves.toBe(200)
  })

  test.each(['/private', '/moved'])('does not try a refusal again: %s', async (path) => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    web.sites.answer(`${HOME}/moved`, { status: 302, headers: { location: '/private' } })
    const error = await get(web.sites.withPort(HOME + path)).catch((error: unknown) => error)
    expect(refusalIn(error)?.verdict.because).toBe('rule')
    expect(web.gate.counters.refusals).toEqual({ rule: 1 })
  })

  test('asks for pages under the crawler’s name', async () => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    await get(web.sites.withPort(`${HOME}/open`))
    expect(web.sites.requests.map(({ headers }) => headers['user-agent'])).toEqual(['RecipeBot/1.0', 'RecipeBot/1.0'])
  })

  test('may wait a minute for its turn', async () => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    const pass = await web.gate.enter(web.sites.withPort(`${HOME}/first`))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const answer = get(web.sites.withPort(`${HOME}/open`), { retries: 0 })
    await vi.waitUntil(async () => {
      await vi.advanceTimersByTimeAsync(1) // node-crawler schedules with one of them
      return web.gate.queues()[0]?.waiting === 1
    })
    await vi.advanceTimersByTimeAsync(60_000)
    pass.release()
    vi.useRealTimers()
    await expect(answer).resolves.toBe(200)
  })

  test('Retry-After of a page holds the next request', async () => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    web.sites.answer(`${HOME}/page`, { status: 429, headers: { 'retry-after': '60' } })
    await get(web.sites.withPort(`${HOME}/page`), { retries: 0 }).catch(() => undefined)
    const next = await web.gate.when(web.sites.withPort(`${HOME}/open`))
    expect(next).toMatchObject({ allowed: true, because: 'retry-after' })
  })

  test.each([
    { what: 'gate', code: 'ERR_POLITELY_GATE_CLOSED' },
    { what: 'robots', code: 'ERR_POLITELY_CLIENT_CLOSED' },
  ] as const)('says so when the gate or its client is closed, and asks for nothing: $what', async ({ what, code }) => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    await web[what].close()
    const error = await get(web.sites.withPort(`${HOME}/open`), { retries: 0 }).catch((error: unknown) => error)
    expect(codesIn(error)).toContain(code)
    expect(web.sites.asked).toEqual([])
  })
})

describe.each(recipes.filter(({ retries }) => retries))('$name', (recipe) => {
  test('a retry of its own waits its turn again', async () => {
    const web = await openNarrowWeb({ minDelayMs: 2_500 }) // more than any of them pauses by itself before the first
    const get = await openOn(web, recipe)
    web.sites.answer(`${HOME}/page`, broken, { status: 200, body: '<title>a page</title>' })
    await expect(get(web.sites.withPort(`${HOME}/page`))).resolves.toBe(200)
    const { started, waits } = web.gate.counters
    expect({ started, waits: waits['own-delay'] }).toEqual({ started: 2, waits: 1 })
  })
})

const takesSignal = ({ name }: Recipe) => adapterCasesFor(name).some(({ capability }) => capability === 'abort works')

describe.each(recipes.filter(takesSignal))('$name', (recipe) => {
  test('gives its place back when it is aborted under way', async () => {
    const web = await openNarrowWeb()
    const get = await openOn(web, recipe)
    web.sites.answer(`${HOME}/slow`, new Promise(() => undefined))
    const controller = new AbortController()
    const answer = get(web.sites.withPort(`${HOME}/slow`), { signal: controller.signal })
    await web.sites.requested(2) // robots.txt, and this one
    controller.abort()
    await expect(answer).rejects.toThrow()
    await web.gate.drain()
    expect(web.gate.counters).toMatchObject({ started: 1, done: 1 })
  })
})
