// How a navigation ends: an abandoned navigation leaves the queue, and a finished one releases its
// permit.
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { firstInShortRun } from '../scope.ts'
import type { Reply } from '../servers/sites.ts'
import { htmlPage, redirectTo } from '../servers/small-pages.ts'
import {
  assertRefused,
  type BrowserCase,
  type BrowserFixture,
  CRAWLER,
  errorOf,
  HOME,
  nextFailure,
  RULES,
  SLOW,
  verdictOf,
} from './browser-fixture.ts'

/** A site with a long crawl-delay: after the first page, the next one waits. */
export const slowWeb: Readonly<Record<string, Reply>> = {
  '/robots.txt': SLOW,
  '/1': htmlPage(),
  '/2': htmlPage(),
  '/3': htmlPage(),
}

/**
 * Starts a second navigation of the page, which waits at the gate. `abandoned` resolves when it
 * leaves the queue.
 */
export async function waitAtGate(
  { tab, at, gateEvent }: BrowserFixture,
  options: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly visit: Promise<unknown>; readonly abandoned: Promise<void> }> {
  const [waiting, abandoned] = [gateEvent('wait', '/2'), gateEvent('abandon', '/2')]
  await tab.goto(at('/1'))
  const visit = errorOf(tab.goto(at('/2'), { ...options, timeout: 0 }))
  await waiting
  return { visit, abandoned }
}

/**
 * Lets a goto of a new page time out after a message of the gate about its request. Returns the
 * page. A goto that times out earlier, because the machine is busy, is repeated with more time,
 * in another page: the end of its navigation could make the next goto of the same page reject.
 */
async function timeOutAfter(
  message: 'wait' | 'start',
  { context, at, gateEvent }: BrowserFixture,
  path: string,
): Promise<BrowserFixture['tab']> {
  for (let timeout = 500; ; timeout *= 4) {
    const tab = await context.newPage()
    let isTooEarly = true
    void gateEvent(message, path).then(() => {
      isTooEarly = false
    })
    await assert.rejects(tab.goto(at(path), { timeout }), { name: 'TimeoutError' })
    if (!isTooEarly) return tab
    await tab.close()
  }
}

const elsewhere = 'data:text/html,elsewhere'

const endsOfWaiting: Readonly<Record<string, (fixture: BrowserFixture) => Promise<unknown>>> = {
  'its page is closed': ({ tab }) => tab.close(),
  'its context is closed': ({ context }) => context.close(),
  'its page navigates elsewhere': ({ tab }) => tab.goto(elsewhere),
  'its page stops loading': ({ browser, tab }) => browser.stopLoading(tab),
  'its page crashes': ({ browser, tab }) => browser.crash(tab),
  'the guard is closed': ({ robots }) => robots.close(),
}

/** For a navigation that the page started itself. */
const endsOfOwnNavigation: Readonly<Record<string, (fixture: BrowserFixture) => Promise<unknown>>> = {
  [`the page goes to ${elsewhere}`]: ({ tab }) => tab.goto(elsewhere),
  'the page goes to about:blank': ({ tab }) => tab.goto('about:blank'),
  'the page crashes': ({ browser, tab }) => browser.crash(tab),
}

const waitingCases: readonly BrowserCase[] = [
  ...firstInShortRun(
    Object.entries(endsOfWaiting).map(
      ([when, end]): BrowserCase => ({
        name: `a waiting goto leaves the queue when ${when}`,
        web: slowWeb,
        ...(when.endsWith('crashes') && { browser: 'own' }),
        run: async (fixture) => {
          const { visit, abandoned } = await waitAtGate(fixture)
          await Promise.all([end(fixture), abandoned])
          assert((await visit) instanceof Error)
          assert.deepEqual(fixture.robots.gate.queues(), [])
        },
        requested: ['/1'],
      }),
    ),
  ),
  {
    name: 'a waiting goto leaves the queue when its signal is aborted, and rejects with the signal’s reason',
    web: slowWeb,
    run: async (fixture) => {
      const controller = new AbortController()
      const { visit, abandoned } = await waitAtGate(fixture, { signal: controller.signal })
      const reason = new Error('enough')
      controller.abort(reason)
      await abandoned
      assert.equal(fixture.browser.abortReasonOf(await visit), reason)
      assert.equal(await errorOf(fixture.tab.goto(fixture.at('/3'), { signal: controller.signal })), reason)
      assert.equal(await fixture.tab.goto('about:blank'), null)
    },
    requested: ['/1'],
  },
  {
    name: 'a goto that would wait longer than maxWaitMs rejects at once with the error of the gate',
    web: slowWeb,
    options: { maxWaitMs: 5_000 },
    run: async ({ tab, robots, at }) => {
      await tab.goto(at('/1'))
      const tooLong = { code: 'ERR_POLITELY_WAIT', because: 'crawl-delay' }
      await assert.rejects(tab.goto(at('/2'), { timeout: 0 }), tooLong)
      assert.deepEqual(robots.gate.queues(), [])
    },
    requested: ['/1'],
  },
  {
    name: 'a waiting goto leaves the queue when it times out; later navigations of the page still wait',
    web: slowWeb,
    run: async (fixture) => {
      const { robots, at, gateEvent } = fixture
      await fixture.tab.goto(at('/1'))
      const abandoned = gateEvent('abandon', '/2')
      const tab = await timeOutAfter('wait', fixture, '/2')
      await abandoned
      assert.deepEqual(robots.gate.queues(), [])
      // A later navigation of the page itself is not abandoned with the goto.
      const waiting = gateEvent('wait', '/3')
      await tab.evaluate(`void setTimeout(() => { location = ${JSON.stringify(at('/3'))} })`)
      await waiting
      await tab.close()
    },
  },
  {
    name: 'a redirect is not followed after its goto has timed out',
    web: { '/2': htmlPage() },
    run: async (fixture) => {
      const { sites, robots, at } = fixture
      const heldResponse = Promise.withResolvers<Reply>()
      sites.respond(`${HOME}/hop`, heldResponse.promise)
      const tab = await timeOutAfter('start', fixture, '/hop')
      const failed = nextFailure(tab)
      heldResponse.resolve(redirectTo('/2'))
      assert.equal((await failed).url(), at('/2'))
      assert.deepEqual(robots.gate.queues(), [])
      assert.deepEqual(sites.requestedPages, [`${HOME}/hop`])
      assert.equal((await tab.goto(at('/2')))?.status(), 200)
    },
  },
  {
    name: 'a waiting goto leaves the queue when another goto of the page replaces it',
    web: slowWeb,
    run: async (fixture) => {
      const { tab, robots, at, gateEvent } = fixture
      const { visit, abandoned } = await waitAtGate(fixture)
      const waiting = gateEvent('wait', '/3')
      const next = errorOf(tab.goto(at('/3')))
      await Promise.all([abandoned, waiting])
      assert.match(String(await visit), /ERR_ABORTED|interrupted/)
      assert.partialDeepStrictEqual(robots.gate.queues(), [{ waiting: 1, underWay: 0 }])
      await tab.close()
      assert((await next) instanceof Error)
    },
  },
  ...firstInShortRun(
    Object.entries(endsOfOwnNavigation).map(
      ([when, end]): BrowserCase => ({
        name: `a waiting navigation that the page started leaves the queue when ${when}`,
        web: slowWeb,
        ...(when.endsWith('crashes') && { browser: 'own' }),
        run: async (fixture) => {
          const { robots, tab, at, gateEvent } = fixture
          await tab.goto(at('/1'))
          const [waiting, abandoned] = [gateEvent('wait', '/2'), gateEvent('abandon', '/2')]
          await tab.evaluate('void setTimeout(() => { location = "/2" })')
          await waiting
          await end(fixture)
          await abandoned
          assert.deepEqual(robots.gate.queues(), [])
        },
        requested: ['/1'],
      }),
    ),
  ),
  {
    name: 'a waiting goto does not reject with the refusal of the goto that replaces it',
    web: slowWeb,
    run: async (fixture) => {
      const { visit } = await waitAtGate(fixture)
      // The robots.txt is in memory, so the refusal comes at once.
      await assertRefused(fixture.browser, fixture.tab.goto(fixture.at('/private')))
      assert.equal(verdictOf(fixture.browser, await visit), undefined)
      assert.match(String(await visit), /ERR_ABORTED|interrupted/)
    },
  },
  {
    name: 'a waiting goto leaves the queue when the browser is closed',
    web: slowWeb,
    browser: 'own',
    run: async (fixture) => {
      const { visit, abandoned } = await waitAtGate(fixture)
      await fixture.browser.close()
      await abandoned
      assert((await visit) instanceof Error)
      await fixture.robots.close()
      assert.deepEqual(fixture.robots.gate.queues(), [])
    },
  },
]

const endsUnderWay: readonly ((fixture: BrowserFixture) => Promise<unknown>)[] = [
  ({ tab }) => tab.close(),
  ({ tab }) => tab.goto('about:blank'),
  ({ tab }) => tab.goto(elsewhere),
  ({ browser, tab }) => browser.stopLoading(tab),
  ({ robots }) => robots.close(),
]

const underWayCases: readonly BrowserCase[] = [
  {
    name: 'a goto under way releases its permit when its page is closed, navigates elsewhere or stops loading, or the guard is closed',
    run: async (fixture) => {
      const { sites, context, robots, at, gateEvent } = fixture
      sites.respond(`${HOME}/hangs`, () => undefined)
      for (const end of endsUnderWay) {
        const [started, done] = [gateEvent('start', '/hangs'), gateEvent('done', '/hangs')]
        const tab = await context.newPage()
        const visit = errorOf(tab.goto(at('/hangs')))
        await started
        assert.partialDeepStrictEqual(robots.gate.queues(), [{ underWay: 1 }])
        await Promise.all([end({ ...fixture, tab }), done])
        assert.deepEqual(robots.gate.queues(), [])
        if (!tab.isClosed()) await tab.close()
        assert((await visit) instanceof Error)
      }
    },
  },
  {
    name: 'a navigation under way that the page started releases its permit when the page navigates elsewhere',
    web: { '/1': htmlPage() },
    run: async ({ sites, robots, tab, at, gateEvent }) => {
      sites.respond(`${HOME}/hangs`, () => undefined)
      const [started, done] = [gateEvent('start', '/hangs'), gateEvent('done', '/hangs')]
      await tab.goto(at('/1'))
      await tab.evaluate('void setTimeout(() => { location = "/hangs" })')
      await started
      await tab.goto(elsewhere)
      await done
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  {
    name: 'a goto under way releases its permit when the connection closes without a response',
    run: async ({ sites, robots, tab, at }) => {
      sites.respond(`${HOME}/broken`, (socket) => socket.destroy())
      await assert.rejects(tab.goto(at('/broken')), /ERR_EMPTY_RESPONSE/)
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  {
    name: 'a goto under way releases its permit when the response is a download',
    web: { '/file': { status: 200, headers: { 'content-disposition': 'attachment' }, body: 'x' } },
    run: async ({ robots, tab, at, gateEvent }) => {
      const done = gateEvent('done', '/file')
      await assert.rejects(tab.goto(at('/file')), /ERR_ABORTED|Download is starting/)
      await done
      assert.deepEqual(robots.gate.queues(), [])
    },
  },
  ...firstInShortRun(
    [429, 503].map(
      (status): BrowserCase => ({
        name: `a response with status ${status} slows its origin down by Retry-After`,
        web: { '/busy': { ...htmlPage('busy', { 'Retry-After': '30' }), status } },
        run: async ({ robots, tab, at }) => {
          assert.equal((await tab.goto(at('/busy')))?.status(), status)
          assert.partialDeepStrictEqual(await robots.gate.when(at('/1')), { allowed: true, because: 'retry-after' })
        },
      }),
    ),
  ),
  {
    name: 'navigations without a response open the circuit of their origin',
    options: { circuit: { failures: 2 } },
    run: async ({ sites, robots, tab, at }) => {
      sites.respond(`${HOME}/reset`, (socket) => socket.destroy())
      for (let n = 0; n < 2; n++) await errorOf(tab.goto(at('/reset')))
      assert.partialDeepStrictEqual(await robots.gate.when(at('/1')), { allowed: true, because: 'circuit' })
    },
  },
]

const unresponsive: Readonly<Record<string, string>> = {
  'runs an endless loop': 'for (;;);',
  'shows a dialog': 'alert()',
}

const closeCases: readonly BrowserCase[] = Object.entries(unresponsive).map(([what, expression]) => ({
  name: `close does not wait for a page that ${what}, and ends the checks`,
  web: { '/robots.txt': RULES, '/open': htmlPage(), '/private': htmlPage() },
  browser: 'own',
  run: async ({ browser, context, robots, tab, at }) => {
    await tab.goto(at('/open'))
    const other = await context.newPage()
    await assertRefused(browser, other.goto(at('/private')))
    void errorOf(tab.evaluate(expression))
    await robots.close()
    assert.equal((await other.goto(at('/private')))?.status(), 200)
  },
}))

const busyPage: BrowserCase = {
  name: 'the requests of a page that did not respond to withRobots are checked when it responds again',
  web: { '/robots.txt': RULES, '/open': htmlPage(), '/late': htmlPage() },
  run: async ({ browser, openContext, sites, at, defer }) => {
    const context = await openContext()
    const tab = await context.newPage()
    await tab.goto(at('/open'))
    const busy = 'for (const end = Date.now() + 5_000; Date.now() < end;);'
    void errorOf(tab.evaluate(`${busy} fetch('/private/late').catch(() => fetch('/late'))`))
    const robots = await browser.withRobots(context, CRAWLER)
    defer(() => robots.close())
    await sites.requested(3)
  },
  requested: ['/late', '/open'],
}

const openCases: readonly BrowserCase[] = Object.entries(unresponsive).map(([what, expression]) => ({
  name: `withRobots does not wait for a page that ${what}, and the other pages are checked`,
  web: { '/robots.txt': RULES, '/open': htmlPage(), '/private': htmlPage() },
  browser: 'own',
  run: async ({ browser, openContext, at, defer }) => {
    const context = await openContext()
    const [stuck, other] = [await context.newPage(), await context.newPage()]
    await stuck.goto(at('/open'))
    void errorOf(stuck.evaluate(expression))
    const robots = await browser.withRobots(context, CRAWLER)
    defer(() => robots.close())
    await assertRefused(browser, other.goto(at('/private')))
  },
  requested: ['/open'],
}))

/** Cases that are run for each way to open a browser. */
export const browserGoneCases: readonly BrowserCase[] = [
  {
    name: 'when the browser is killed, a waiting goto rejects with BrowserGoneError, close resolves, and no rejection is unhandled',
    web: slowWeb,
    browser: 'own',
    run: async (fixture) => {
      const unhandled: unknown[] = []
      const onRejection = (reason: unknown) => void unhandled.push(reason)
      process.on('unhandledRejection', onRejection)
      fixture.defer(() => process.off('unhandledRejection', onRejection))
      const idle = await fixture.openPolite()
      const { visit, abandoned } = await waitAtGate(fixture)
      await fixture.browser.kill()
      await abandoned
      const error = (await visit) as NodeJS.ErrnoException
      assert.equal(error.code, 'ERR_POLITELY_BROWSER_GONE', String(error))
      assert.match(error.message, /the browser is gone/)
      await fixture.robots.close()
      await idle.robots.close()
      assert.deepEqual(fixture.robots.gate.queues(), [])
      await setImmediate() // Node reports unhandled rejections after the microtasks
      assert.deepEqual(unhandled, [])
    },
  },
]

export const browserEndCases: readonly BrowserCase[] = [
  ...waitingCases,
  ...underWayCases,
  ...closeCases,
  ...openCases,
  busyPage,
  ...browserGoneCases,
]
