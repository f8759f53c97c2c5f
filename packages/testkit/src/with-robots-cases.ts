// What withRobots is given, and what its close leaves.
import assert from 'node:assert/strict'
import { type BrowserRow, CRAWLER, HOME, RULES, refused } from './browser-room.ts'
import { htmlPage } from './small-pages.ts'

const gateClosed = { code: 'ERR_POLITELY_GATE_CLOSED' }

const closing: readonly BrowserRow[] = [
  {
    name: 'close leaves the pages as they were',
    web: {
      '/robots.txt': { status: 200, body: 'User-agent: *\nDisallow: /\n' },
      '/1': htmlPage('<script type="speculationrules">{}</script>'),
    },
    run: async ({ sites, context, robots, tab, at }) => {
      assert(Object.hasOwn(tab, 'goto'))
      await robots.close()
      await robots.close()
      for (const page of [tab, await context.newPage()]) {
        assert(!Object.hasOwn(page, 'goto'))
        assert.equal((await page.goto(at('/1')))?.status(), 200)
        assert.equal(await page.evaluate('document.scripts.length'), 1)
      }
      assert.deepEqual(sites.asked, [`${HOME}/1`, `${HOME}/1`])
    },
  },
  {
    name: 'close leaves a goto that another has put over ours where it is',
    web: { '/1': htmlPage() },
    run: async ({ robots, tab, at }) => {
      const ours = tab.goto.bind(tab)
      const theirs: typeof ours = (...args) => ours(...args)
      tab.goto = theirs
      await robots.close()
      assert.equal(tab.goto, theirs)
      assert.equal((await tab.goto(at('/1')))?.status(), 200)
    },
  },
  {
    name: 'close ends what was made; what was given stays its owner’s',
    web: { '/1': htmlPage() },
    run: async ({ robots: made, openPolite, openGate, at }) => {
      await made.close()
      await assert.rejects(made.gate.enter(at('/1')), gateClosed)

      const { gate } = openGate()
      const { robots: given } = await openPolite({ gate })
      assert.equal(given.gate, gate)
      await given.close()
      ;(await gate.enter(at('/1'))).release()
    },
  },
  {
    name: 'close comes with the end of the browser',
    browser: 'own',
    run: async ({ browser, robots, at }) => {
      await browser.close()
      await assert.rejects(robots.gate.enter(at('/')), gateClosed)
    },
  },
  ...[
    { whose: 'a gate', code: 'ERR_POLITELY_GATE_CLOSED' },
    { whose: 'a RobotsClient', code: 'ERR_POLITELY_CLIENT_CLOSED' },
  ].map(
    ({ whose, code }): BrowserRow => ({
      name: `close of ${whose} of your own under a context lets nothing through, and says so`,
      web: { '/1': htmlPage() },
      run: async ({ sites, openPolite, openGate, at }) => {
        const { gate, robots } = openGate()
        const { tab } = await openPolite({ gate })
        await (whose === 'a gate' ? gate : robots).close()
        await assert.rejects(tab.goto(at('/1')), { code })
        assert.deepEqual(sites.asked, [])
      },
    }),
  ),
]

const wrongOptions: readonly (readonly [string, unknown, RegExp])[] = [
  ['none', undefined, /options: is missing; expected/],
  ['no name', {}, /userAgent/],
  [
    'an unknown word',
    { ...CRAWLER, pageRequests: true },
    /pageRequests: true is not known; expected one of check, ignore/,
  ],
  ['a pause that is none', { ...CRAWLER, minDelayMs: -1 }, /minDelayMs/],
  ['a gate and more', { gate: 'none' }, /gate: must be a PoliteGate/],
]

const broken = () => Promise.reject(new Error('the disk is full'))

const given: readonly BrowserRow[] = [
  ...wrongOptions.map(
    ([what, options, message]): BrowserRow => ({
      name: `withRobots with options: ${what}, is told what to write instead`,
      run: async ({ browser, openContext }) => {
        const context = await openContext()
        await assert.rejects(browser.withRobots(context, options), { code: 'ERR_POLITELY_OPTION', message })
        // Nothing has been begun.
        await (await browser.withRobots(context, CRAWLER)).close()
      },
    }),
  ),
  {
    name: 'withRobots with network: public-only keeps pages off private addresses as well, since their robots.txt cannot be had',
    web: { '/1': htmlPage() },
    options: { network: 'public-only' },
    run: async ({ browser, sites, tab, at }) => {
      await refused(browser, tab.goto(at('/1')), 'unreachable')
      assert.deepEqual(sites.asked, [])
    },
  },
  {
    name: 'withRobots with one gate for several contexts has them share a pace',
    web: { '/1': htmlPage(), '/2': htmlPage() },
    run: async ({ sites, openPolite, openGate, at }) => {
      const { gate } = openGate()
      for (const path of ['/1', '/2']) await (await openPolite({ gate })).tab.goto(at(path))
      assert.equal(gate.counters.started, 2)
      assert.equal(sites.asked.filter((url) => url.endsWith('/robots.txt')).length, 1)
    },
  },
  {
    name: 'withRobots with a store that throws costs no page',
    web: { '/robots.txt': RULES, '/1': htmlPage() },
    options: { store: { get: broken, set: broken, delete: broken } },
    run: async ({ browser, tab, at }) => {
      assert.equal((await tab.goto(at('/1')))?.status(), 200)
      await refused(browser, tab.goto(at('/private')))
    },
  },
]

export const withRobotsRows: readonly BrowserRow[] = [...given, ...closing]
