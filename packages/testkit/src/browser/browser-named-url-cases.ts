// Pages that name URLs on private hosts. OTHER stands for a public site: the guard gets its address
// as `allowAddresses`. 127.0.0.2 is private.
import assert from 'node:assert/strict'
import { firstInShortRun } from '../scope.ts'
import { startPrivateServer } from '../servers/private-hosts.ts'
import { htmlPage } from '../servers/small-pages.ts'
import { type BrowserCase, type BrowserFixture, OTHER } from './browser-fixture.ts'
import type { TabUnderTest } from './browser-under-test.ts'

const options = { allowAddresses: ['127.0.0.1'] } as const
const page = `${OTHER}/page`

interface Way {
  readonly name: string
  /** The body of the page. */
  readonly html?: (target: string) => string
  /** What happens on the page. */
  readonly act?: (tab: TabUnderTest, target: string) => Promise<unknown>
  readonly wholeChromium?: true
}

const evaluate = (script: (target: string) => string) => (tab: TabUnderTest, target: string) =>
  tab.evaluate(`void (() => { ${script(target)} })()`)

/** Ways in which a page can name a URL that the browser requests. */
const ways: readonly Way[] = [
  {
    name: 'a link that is clicked',
    html: (target) => `<a href="${target}">a</a>`,
    act: (tab) => tab.click('a').catch(() => undefined),
  },
  { name: 'an image', html: (target) => `<img src="${target}">` },
  { name: 'a script that sets location', act: evaluate((target) => `location = '${target}'`) },
  { name: 'a refresh', html: (target) => `<meta http-equiv="refresh" content="0;url=${target}">` },
  {
    name: 'a form',
    html: (target) => `<form method="post" action="${target}"><input name="a"></form>`,
    act: evaluate(() => 'document.forms[0].submit()'),
  },
  { name: 'a frame', html: (target) => `<iframe src="${target}"></iframe>` },
  { name: 'an image in a frame without a URL', html: (target) => `<iframe srcdoc="<img src='${target}'>"></iframe>` },
  { name: 'fetch', act: evaluate((target) => `fetch('${target}', { mode: 'no-cors' }).catch(() => 0)`) },
  { name: 'a beacon', act: evaluate((target) => `navigator.sendBeacon('${target}', 'a')`) },
  {
    name: 'fetch in a worker',
    act: evaluate(
      (target) =>
        `new Worker(URL.createObjectURL(new Blob(["fetch('${target}', { mode: 'no-cors' }).catch(() => 0)"])))`,
    ),
  },
  { name: 'a window', act: evaluate((target) => `window.open('${target}')`), wholeChromium: true },
  {
    name: 'a window without an opener',
    act: evaluate((target) => `window.open('${target}', '_blank', 'noopener')`),
    wholeChromium: true,
  },
  {
    name: 'a window that the page navigates later',
    act: evaluate((target) => `const other = window.open(''); setTimeout(() => { other.location = '${target}' }, 50)`),
    wholeChromium: true,
  },
]

async function startPrivate({ defer }: BrowserFixture) {
  const inside = await startPrivateServer()
  defer(() => inside.close())
  return { inside, at: (path: string) => `http://127.0.0.2:${inside.port}${path}` }
}

export const browserNamedUrlCases: readonly BrowserCase[] = [
  ...firstInShortRun(
    ways.map(
      ({ name, html = () => '', act = async () => undefined, wholeChromium }): BrowserCase => ({
        name: `a public page does not lead the browser to a private host: ${name}`,
        ...(wholeChromium && { wholeChromium }),
        options,
        run: async (fixture) => {
          const { sites, tab, at, gateEvent } = fixture
          const { inside, at: atInside } = await startPrivate(fixture)
          const target = atInside('/named')
          sites.answerAll({ [page]: htmlPage(html(target)) })
          const refused = gateEvent('refuse', target)
          await tab.goto(at(page)).catch(() => undefined) // a page that navigates at once interrupts it
          await act(tab, target)
          await refused
          assert.deepEqual(inside.requests, []) // Chromium may have opened a connection in advance
        },
      }),
    ),
  ),
  {
    name: 'the caller’s own goto opens a private page after a public one, with its images and links',
    options,
    web: { [page]: htmlPage() },
    run: async (fixture) => {
      const { tab, at } = fixture
      const { inside, at: atInside } = await startPrivate(fixture)
      await tab.goto(at(page))
      const withPassword = atInside('/own#part').replace('http://', 'http://me:secret@')
      assert.equal((await tab.goto(withPassword))?.status(), 200)
      await tab.evaluate(
        `fetch(location.origin + '/api').then((response) => response.text()).then((text) => { document.title = text })`,
      )
      await tab.waitForFunction('document.title === "secret"')
      await tab.evaluate(`void (location = '${atInside('/next')}')`)
      await tab.waitForFunction('location.pathname === "/next"')
      await tab.goto(at(page))
      await tab.goBack()
      await tab.waitForFunction('location.pathname === "/next"')
      assert.deepEqual(inside.requests.filter((url) => url !== '/favicon.ico').slice(0, 4), [
        '/robots.txt',
        '/own',
        '/api',
        '/next',
      ])
    },
  },
  {
    name: 'a public page cannot use a goto of the caller to open another private URL',
    options,
    web: { [page]: htmlPage() },
    run: async (fixture) => {
      const { tab, at } = fixture
      const { inside, at: atInside } = await startPrivate(fixture)
      await tab.goto(at(page))
      await tab.evaluate(
        `void setInterval(() => { location = '${atInside('/named')}'; fetch('${atInside('/fetched')}') }, 1)`,
      )
      for (let n = 0; n < 5; n++) await tab.goto(at(`${page}?${n}`)).catch(() => undefined)
      assert.deepEqual(inside.requests, [])
    },
  },
]
