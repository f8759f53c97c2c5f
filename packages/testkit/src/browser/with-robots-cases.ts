// The options of withRobots, and what its close restores.
import assert from 'node:assert/strict'
import { firstInShortRun } from '../scope.ts'
import { htmlPage } from '../servers/small-pages.ts'
import { assertRefused, type BrowserCase, CRAWLER, HOME, RULES } from './browser-fixture.ts'

const gateClosed = { code: 'ERR_POLITELY_GATE_CLOSED' }

const closing: readonly BrowserCase[] = [
  {
    name: 'close restores the pages',
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
      assert.deepEqual(sites.requestedUrls, [`${HOME}/1`, `${HOME}/1`])
    },
  },
  {
    name: 'close keeps a goto that other code has assigned over the guard’s',
    web: { '/1': htmlPage() },
    run: async ({ robots, tab, at }) => {
      const guarded = tab.goto.bind(tab)
      const assigned: typeof guarded = (...args) => guarded(...args)
      tab.goto = assigned
      await robots.close()
      assert.equal(tab.goto, assigned)
      assert.equal((await tab.goto(at('/1')))?.status(), 200)
    },
  },
  {
    name: 'close closes a gate that withRobots made, and not one that was passed in',
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
    name: 'the guard closes with the browser',
    browser: 'own',
    run: async ({ browser, robots, at }) => {
      await browser.close()
      await assert.rejects(robots.gate.enter(at('/')), gateClosed)
    },
  },
  ...[
    { whose: 'the gate', code: 'ERR_POLITELY_GATE_CLOSED' },
    { whose: 'the RobotsClient', code: 'ERR_POLITELY_CLIENT_CLOSED' },
  ].map(
    ({ whose, code }): BrowserCase => ({
      name: `when the caller closes ${whose} that a guard uses, goto rejects with its error and no request is sent`,
      web: { '/1': htmlPage() },
      run: async ({ sites, openPolite, openGate, at }) => {
        const { gate, robots } = openGate()
        const { tab } = await openPolite({ gate })
        await (whose === 'the gate' ? gate : robots).close()
        await assert.rejects(tab.goto(at('/1')), { code })
        assert.deepEqual(sites.requestedUrls, [])
      },
    }),
  ),
]

const wrongOptions: readonly (readonly [string, unknown, RegExp])[] = [
  ['no options', undefined, /options: is missing; expected/],
  ['no userAgent', {}, /userAgent/],
  [
    'an unknown pageRequests',
    { ...CRAWLER, pageRequests: true },
    /pageRequests: true is not known; expected one of check, ignore/,
  ],
  ['a negative minDelayMs', { ...CRAWLER, minDelayMs: -1 }, /minDelayMs/],
  ['an invalid gate', { gate: 'none' }, /gate: .* is not a PoliteGate/],
]

const broken = () => Promise.reject(new Error('the disk is full'))

const given: readonly BrowserCase[] = [
  ...firstInShortRun(
    wrongOptions.map(
      ([what, options, message]): BrowserCase => ({
        name: `withRobots with ${what} throws an OptionError that says what to write`,
        run: async ({ browser, openContext }) => {
          const context = await openContext()
          await assert.rejects(browser.withRobots(context, options), { code: 'ERR_POLITELY_OPTION', message })
          // The failed call has changed nothing.
          await (await browser.withRobots(context, CRAWLER)).close()
        },
      }),
    ),
  ),
  {
    name: 'with network: public-only, pages at private addresses are refused, because their robots.txt is unreachable',
    web: { '/1': htmlPage() },
    options: { network: 'public-only' },
    run: async ({ browser, sites, tab, at }) => {
      await assertRefused(browser, tab.goto(at('/1')), 'unreachable')
      assert.deepEqual(sites.requestedUrls, [])
    },
  },
  {
    name: 'with obey: { rules: false }, a disallowed page loads, with its disallowed images',
    web: {
      '/robots.txt': RULES,
      '/private': htmlPage('<img src="/private/image">'),
      '/private/image': { status: 204 },
    },
    options: { obey: { rules: false } },
    run: async ({ sites, robots, tab, at }) => {
      assert.equal((await tab.goto(at('/private')))?.status(), 200)
      assert.deepEqual(sites.requestedUrls, [`${HOME}/robots.txt`, `${HOME}/private`, `${HOME}/private/image`])
      assert.equal(robots.gate.counters.disobeyedRules, 2)
    },
  },
  {
    name: 'contexts with one gate share its pace and its robots.txt',
    web: { '/1': htmlPage(), '/2': htmlPage() },
    run: async ({ sites, openPolite, openGate, at }) => {
      const { gate } = openGate()
      for (const path of ['/1', '/2']) await (await openPolite({ gate })).tab.goto(at(path))
      assert.equal(gate.counters.started, 2)
      assert.equal(sites.requestedUrls.filter((url) => url.endsWith('/robots.txt')).length, 1)
    },
  },
  {
    name: 'a store that throws does not affect navigations',
    web: { '/robots.txt': RULES, '/1': htmlPage() },
    options: { store: { get: broken, set: broken, delete: broken } },
    run: async ({ browser, tab, at }) => {
      assert.equal((await tab.goto(at('/1')))?.status(), 200)
      await assertRefused(browser, tab.goto(at('/private')))
    },
  },
]

export const withRobotsCases: readonly BrowserCase[] = [...given, ...closing]
