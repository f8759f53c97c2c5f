// How a visit ends: who gives up waiting leaves the queue, and what is over gives its place back.
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { type BrowserCase, errorOf, nextFailure, HOME, type BrowserFixture, assertRefused, SLOW, verdictOf } from './browser-fixture.ts'
import type { Reply } from './sites.ts'
import { htmlPage, redirectTo } from './small-pages.ts'

/** A site with a long pause, of which one page has been asked for: the next one waits. */
export const slowWeb: Readonly<Record<string, Reply>> = {
  '/robots.txt': SLOW,
  '/1': htmlPage(),
  '/2': htmlPage(),
  '/3': htmlPage(),
}

/** A page that waits at the gate for its second visit, and when it has left that. */
export async function waitAtGate(
  { tab, at, gateEvent: told }: BrowserFixture,
  options: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly visit: Promise<unknown>; readonly left: Promise<void> }> {
  const [waits, left] = [told('wait', '/2'), told('abandon', '/2')]
  await tab.goto(at('/1'))
  const visit = errorOf(tab.goto(at('/2'), { ...options, timeout: 0 }))
  await waits
  return { visit, left }
}

const elsewhere = 'data:text/html,elsewhere'

const waitingEnds: Readonly<Record<string, (room: BrowserFixture) => Promise<unknown>>> = {
  'its page is closed': ({ tab }) => tab.close(),
  'its context is closed': ({ context }) => context.close(),
  'its page goes elsewhere': ({ tab }) => tab.goto(elsewhere),
  'its page stops loading': ({ browser, tab }) => browser.stopLoading(tab),
  'its page crashes': ({ browser, tab }) => browser.crash(tab),
  'withRobots is closed': ({ robots }) => robots.close(),
}

/** Of one that no `goto` asked for. */
const ownEnds: Readonly<Record<string, (room: BrowserFixture) => Promise<unknown>>> = {
  [`it goes to ${elsewhere}`]: ({ tab }) => tab.goto(elsewhere),
  'it goes to about:blank': ({ tab }) => tab.goto('about:blank'),
  'it crashes': ({ browser, tab }) => browser.crash(tab),
}

const waiting: readonly BrowserCase[] = [
  ...Object.entries(waitingEnds).map(
    ([when, end]): BrowserCase => ({
      name: `a page that waits leaves the queue when ${when}`,
      web: slowWeb,
      ...(when.endsWith('crashes') && { browser: 'own' }),
      run: async (room) => {
        const { visit, left } = await waitAtGate(room)
        await Promise.all([end(room), left])
        assert((await visit) instanceof Error)
        assert.deepEqual(room.robots.gate.queues(), [])
      },
      requested: ['/1'],
    }),
  ),
  {
    name: 'a page that waits leaves the queue when goto has a signal that is aborted, and rejects with its reason',
    web: slowWeb,
    run: async (room) => {
      const giveUp = new AbortController()
      const { visit, left } = await waitAtGate(room, { signal: giveUp.signal })
      const reason = new Error('enough')
      giveUp.abort(reason)
      await left
      assert.equal(room.browser.abortReasonOf(await visit), reason)
      assert.equal(await errorOf(room.tab.goto(room.at('/3'), { signal: giveUp.signal })), reason)
      assert.equal(await room.tab.goto('about:blank'), null)
    },
    requested: ['/1'],
  },
  {
    name: 'a page that waits leaves the queue when goto has a timeout that is shorter',
    web: slowWeb,
    run: async ({ robots, tab, at, gateEvent: told }) => {
      await tab.goto(at('/1'))
      const left = told('abandon', '/2')
      await assert.rejects(tab.goto(at('/2'), { timeout: 500 }), { name: 'TimeoutError' })
      await left
      assert.deepEqual(robots.gate.queues(), [])
      // What the page does by itself later on is not given up with it.
      const waits = told('wait', '/3')
      await tab.evaluate('void setTimeout(() => { location = "/3" })')
      await waits
      await tab.close()
    },
  },
  {
    name: 'a page that waits for a hop of a redirect that nobody waits for any more is not asked for',
    web: { '/2': htmlPage() },
    run: async ({ sites, robots, tab, at }) => {
      const held = Promise.withResolvers<Reply>()
      sites.answer(`${HOME}/hop`, held.promise)
      await assert.rejects(tab.goto(at('/hop'), { timeout: 500 }), { name: 'TimeoutError' })
      const failed = nextFailure(tab)
      held.resolve(redirectTo('/2'))
      assert.equal((await failed).url(), at('/2'))
      assert.deepEqual(robots.gate.queues(), [])
      assert.deepEqual(sites.askedPages, [`${HOME}/hop`])
      assert.equal((await tab.goto(at('/2')))?.status(), 200)
    },
  },
  {
    name: 'a page that waits for another goto gives its place to that',
    web: slowWeb,
    run: async (room) => {
      const { tab, robots, at, gateEvent: told } = room
      const { visit, left } = await waitAtGate(room)
      const waits = told('wait', '/3')
      const next = errorOf(tab.goto(at('/3')))
      await Promise.all([left, waits])
      assert.match(String(await visit), /ERR_ABORTED|interrupted/)
      assert.partialDeepStrictEqual(robots.gate.queues(), [{ waiting: 1, underWay: 0 }])
      await tab.close()
      assert((await next) instanceof Error)
    },
  },
  ...Object.entries(ownEnds).map(
    ([when, end]): BrowserCase => ({
      name: `a page that waits by itself leaves the queue when ${when}`,
      web: slowWeb,
      ...(when.endsWith('crashes') && { browser: 'own' }),
      run: async (room) => {
        const { robots, tab, at, gateEvent: told } = room
        await tab.goto(at('/1'))
        const [waits, left] = [told('wait', '/2'), told('abandon', '/2')]
        await tab.evaluate('void setTimeout(() => { location = "/2" })')
        await waits
        await end(room)
        await left
        assert.deepEqual(robots.gate.queues(), [])
      },
      requested: ['/1'],
    }),
  ),
  {
    name: 'a page that waits is not told of a refusal that is another goto’s',
    web: slowWeb,
    run: async (room) => {
      const { visit } = await waitAtGate(room)
      // Its robots.txt is known, so that the refusal is there at once.
      await assertRefused(room.browser, room.tab.goto(room.at('/private')))
      assert.equal(verdictOf(room.browser, await visit), undefined)
      assert.match(String(await visit), /ERR_ABORTED|interrupted/)
    },
  },
  {
    name: 'a page that waits is let go when the browser has been closed',
    web: slowWeb,
    browser: 'own',
    run: async (room) => {
      const { visit, left } = await waitAtGate(room)
      await room.browser.close()
      await left
      assert((await visit) instanceof Error)
      await room.robots.close()
      assert.deepEqual(room.robots.gate.queues(), [])
    },
  },
]

const underWayEnds: readonly ((room: BrowserFixture) => Promise<unknown>)[] = [
  ({ tab }) => tab.close(),
  ({ tab }) => tab.goto('about:blank'),
  ({ tab }) => tab.goto(elsewhere),
  ({ browser, tab }) => browser.stopLoading(tab),
  ({ robots }) => robots.close(),
]

const underWay: readonly BrowserCase[] = [
  {
    name: 'a page that is under way gives its place back when its page is closed, goes elsewhere or stops, or withRobots is closed',
    run: async (room) => {
      const { sites, context, robots, at, gateEvent: told } = room
      sites.answer(`${HOME}/hangs`, () => undefined)
      for (const end of underWayEnds) {
        const [left, done] = [told('start', '/hangs'), told('done', '/hangs')]
        const tab = await context.newPage()
        const visit = errorOf(tab.goto(at('/hangs')))
        await left
        assert.partialDeepStrictEqual(robots.gate.queues(), [{ underWay: 1 }])
        await Promise.all([end({ ...room, tab }), done])
        assert.deepEqual(robots.gate.queues(), [])
        if (!tab.isClosed()) await tab.close()
        assert((await visit) instanceof Error)
      }
    },
  },
  {
    name: 'a page that is under way by itself gives its place back when it goes elsewhere',
    web: { '/1': htmlPage() },
    run: async ({ sites, robots, tab, at, gateEvent: told }) => {
      sites.answer(`${HOME}/hangs`, () => undefined)
      const [left, done] = [told('start', '/hangs'), told('done', '/hangs')]
      await tab.goto(at('/1'))
      await tab.evaluate('void setTimeout(() => { location = "/hangs" })')
      await left
      await tab.goto(elsewhere)
      await done
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  {
    name: 'a page that is under way gives its place back when nobody answers',
    run: async ({ sites, robots, tab, at }) => {
      sites.answer(`${HOME}/broken`, (socket) => socket.destroy())
      await assert.rejects(tab.goto(at('/broken')), /ERR_EMPTY_RESPONSE/)
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  {
    name: 'a page that is under way gives its place back when it was a download',
    web: { '/file': { status: 200, headers: { 'content-disposition': 'attachment' }, body: 'x' } },
    run: async ({ robots, tab, at, gateEvent: told }) => {
      const done = told('done', '/file')
      await assert.rejects(tab.goto(at('/file')), /ERR_ABORTED|Download is starting/)
      await done
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  ...[429, 503].map(
    (status): BrowserCase => ({
      name: `a page that is under way and is answered by ${status} slows its origin down by Retry-After`,
      web: { '/busy': { ...htmlPage('busy', { 'Retry-After': '30' }), status } },
      run: async ({ robots, tab, at }) => {
        assert.equal((await tab.goto(at('/busy')))?.status(), status)
        assert.partialDeepStrictEqual(await robots.gate.when(at('/1')), { allowed: true, because: 'retry-after' })
      },
    }),
  ),
]

/** Played with each way to get hold of a browser. */
export const browserDeathCases: readonly BrowserCase[] = [
  {
    name: 'a browser that dies leaves no rejection without a handler: a waiting page fails and says why, and close resolves',
    web: slowWeb,
    browser: 'own',
    run: async (room) => {
      const unhandled: unknown[] = []
      const hear = (reason: unknown) => void unhandled.push(reason)
      process.on('unhandledRejection', hear)
      room.defer(() => process.off('unhandledRejection', hear))
      const idle = await room.openPolite()
      const { visit, left } = await waitAtGate(room)
      await room.browser.kill()
      await left
      const error = (await visit) as NodeJS.ErrnoException
      assert.equal(error.code, 'ERR_POLITELY_BROWSER_GONE', String(error))
      assert.match(error.message, /the browser is gone/)
      await room.robots.close()
      await idle.robots.close()
      assert.deepEqual(room.robots.gate.queues(), [])
      await setImmediate() // Node tells of them after the microtasks
      assert.deepEqual(unhandled, [])
    },
  },
]

export const browserEndCases: readonly BrowserCase[] = [...waiting, ...underWay, ...browserDeathCases]
