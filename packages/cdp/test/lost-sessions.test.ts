// @module-tag full
// @module-tag browser
// The sessions of a guard are detached at each step. A page whose guard is lost sends nothing.
import { RobotsDisallowedError } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { htmlPage } from '@politely/testkit/servers/small-pages'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type BrowserScope, type DriverBrowser, type DriverSession, guardBrowser } from '../src/index.ts'
import { Chromium, noChromium, type Page } from './driver.ts'

const HOME = 'http://localhost:PORT'
const CRAWLER = { userAgent: 'TestBot/1.0 (+https://test.example/bot)', minDelayMs: 0, retries: 0 }
const SLOW = { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' }

describe.skipIf(noChromium)('a guard whose sessions are detached', () => {
  let chromium: Chromium
  let sites: Sites

  beforeAll(async () => {
    chromium = new Chromium()
  })

  afterAll(() => chromium.close())

  /** Opens a guarded page of a driver that does what `change` says. */
  async function guarded(change: (driver: Driver, page: Page) => Partial<BrowserScope> = () => ({})) {
    sites = await startSites()
    onTestFinished(() => sites.close())
    sites.answerAll({
      [`${HOME}/robots.txt`]: { status: 200, body: 'User-agent: *\nDisallow: /private\n' },
      [`${HOME}/`]: htmlPage(),
      [`${HOME}/private`]: htmlPage(),
      [`${HOME}/rules`]: htmlPage('<script type="speculationrules">{}</script>'),
      [`${HOME}/hop`]: { status: 302, headers: { location: '/private' } },
    })
    const driver = new Driver(chromium)
    const page = await chromium.newPage()
    const scope: BrowserScope = {
      browser: driver,
      driverObject: page,
      name: 'page',
      overlapping: [page],
      refusedPage: 'Aborted',
      pages: async () => [page],
      listen: () => () => undefined,
      ...change(driver, page),
    }
    const robots = await guardBrowser(scope, CRAWLER)
    onTestFinished(() => robots.close())
    return { driver, page, robots, at: (path: string) => sites.withPort(`${HOME}${path}`) }
  }

  /** Opens a guarded page with a navigation that waits for its turn. */
  async function waitingFor(path: string) {
    const { driver, page, robots, at } = await guarded()
    sites.respond(`${HOME}/robots.txt`, SLOW)
    await page.goto(at('/'))
    const waiting = page.goto(at(path)).catch((error: unknown) => error)
    await expect.poll(() => robots.gate.queues()).toMatchObject([{ waiting: 1 }])
    return { driver, page, robots, waiting }
  }

  it('opens others, and checks each request meanwhile', async () => {
    const { driver, page, at } = await guarded()
    for (let i = 0; i < 4; i++) {
      await driver.sessions[i]?.detach()
      for (const path of ['/private', '/hop'])
        await expect(page.goto(at(path))).rejects.toBeInstanceOf(RobotsDisallowedError)
      await page.goto(at('/'))
    }
    expect(driver.sessions).toHaveLength(6)
    expect(sites.requestedUrls).not.toContain(`${HOME}/private`)
  })

  it('checks the requests of a page that has loaded before', async () => {
    const { driver, page, at } = await guarded()
    await page.goto(at('/'))
    const fetched = (path: string) => page.evaluate(`fetch('${path}').then(() => 'sent', () => 'failed')`)
    for (let i = 0; i < 3; i++) {
      await driver.sessions[i]?.detach()
      expect([i, await fetched(`/private?${i}`)]).toEqual([i, 'failed'])
      await page.goto(at('/'))
    }
    expect(sites.requestedPages).toEqual([`${HOME}/`])
  })

  it('fails a navigation that waits for its turn, and frees its place', async () => {
    const { driver, robots, waiting } = await waitingFor('/private')
    await driver.lastPaused?.detach()
    expect(await waiting).toMatchObject({ message: 'net::ERR_ABORTED' })
    await expect.poll(() => robots.gate.queues()).toEqual([])
    expect(sites.requestedPages).toEqual([`${HOME}/`])
  })

  it('fails a navigation that waits when its sessions are detached one after the other', async () => {
    const { driver, page, robots, waiting } = await waitingFor('/waits')
    const decider = driver.lastPaused
    const other = driver.sessions.find((session) => session !== decider)
    await other?.detachReported()
    await expect.poll(() => driver.sessions).toHaveLength(3)
    await expect.poll(() => robots.gate.queues()).toEqual([])
    await decider?.detach()
    expect(await waiting).toMatchObject({ message: 'net::ERR_ABORTED' })
    await page.goto('about:blank')
    expect(sites.requestedPages).toEqual([`${HOME}/`])
  })

  it('checks a navigation when both are detached', async () => {
    const { driver, page, at } = await guarded()
    await Promise.all(driver.sessions.map((session) => session.detach()))
    await expect(page.goto(at('/private'))).rejects.toBeInstanceOf(RobotsDisallowedError)
    await page.goto(at('/'))
    expect(sites.requestedPages).toEqual([`${HOME}/`])
  })

  it.each([1, 2])('refuses every navigation if the driver opens no other session for %i', async (count) => {
    const { driver, page, at } = await guarded()
    driver.refuses = true
    await Promise.all(driver.sessions.slice(0, count).map((session) => session.detach()))
    await expect(page.goto(at('/'))).rejects.toThrow('no session')
    expect(sites.requestedUrls).toEqual([])
    driver.refuses = false
    await page.goto(at('/'))
  })

  it('gives its script to a popup again before the popup loads another page', async () => {
    const { driver, page, at } = await guarded()
    await page.goto(at('/'))
    const rulesIn = (path: string) =>
      page.evaluate(`new Promise((resolve) => {
        self.popup = open('', 'popup')
        popup.location = '${path}'
        const timer = setInterval(() => {
          const { readyState, URL } = popup.document
          if (readyState !== 'complete' || !URL.endsWith('${path}')) return
          clearInterval(timer)
          resolve(popup.document.querySelectorAll('script').length)
        }, 20)
      })`)
    expect(await rulesIn('/rules')).toBe(0)
    await driver.detachTargets()
    expect(await rulesIn('/rules?2')).toBe(0)
    await driver.sessions[0]?.detachReported()
    await expect.poll(() => driver.sessions).toHaveLength(3)
    await page.goto(at('/'))
    expect(await rulesIn('/rules?3')).toBe(0)
  })

  it.each([
    ['has not reported', false],
    ['cannot identify', true],
  ])('checks the requests of a page that the driver %s', async (_, isReported) => {
    const { page, at } = await guarded((_, page) => ({
      pages: async () => [],
      listen: (onPage) => {
        const newSession = () => Promise.reject(new Error('detached'))
        if (isReported) onPage({ driverObject: page, newSession, isClosed: () => false })
        return () => undefined
      },
    }))
    await page.evaluate(`location = '${at('/private')}'`)
    await expect.poll(() => sites.requestedUrls).toEqual([`${HOME}/robots.txt`])
    await page.evaluate(`location = '${at('/')}'`)
    await expect.poll(() => sites.requestedUrls.slice(1)).toEqual([`${HOME}/`])
  })
})

interface Detachable extends DriverSession {
  /** Detaches the session and reports that, as Playwright does. */
  detachReported(): Promise<void>
}

/** A driver that remembers the sessions of the guard with the browser. */
class Driver implements DriverBrowser {
  readonly driverObject: object = this
  readonly sessions: Detachable[] = []
  /** The session that has paused a request last. */
  lastPaused: Detachable | undefined
  refuses = false
  readonly #chromium: Chromium
  readonly #targets: (() => Promise<unknown>)[] = []

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  async newSession(): Promise<Detachable> {
    if (this.refuses) throw new Error('no session')
    const session = await this.#chromium.newSession()
    const send: DriverSession['send'] = async (method, parameters) => {
      const result = await session.send(method, parameters)
      if (method === 'Target.attachToTarget')
        this.#targets.push(() => session.send('Target.detachFromTarget', result as object))
      return result
    }
    const onClose: (() => void)[] = []
    const opened: Detachable = {
      send,
      on: (event, listener) => {
        if (event === 'close') onClose.push(() => listener(undefined))
        return session.on(event, (parameters) => {
          if (event === 'Fetch.requestPaused') this.lastPaused = opened
          listener(parameters)
        })
      },
      detach: () => session.detach(),
      detachReported: async () => {
        await session.detach()
        for (const report of onClose) report()
      },
    }
    this.sessions.push(opened)
    return opened
  }

  /** Detaches the sessions of the guard with pages. */
  async detachTargets(): Promise<void> {
    await Promise.allSettled(this.#targets.map((detach) => detach()))
  }

  pages(): Promise<readonly Page[]> {
    return this.#chromium.pages()
  }

  isConnected(): boolean {
    return true
  }
}
