// A small web and a polite context on it, both gone when the test is.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Reply, type Sites, startSites } from '@politely/testkit'
import type { Browser, BrowserContext, HTTPRequest, Page } from 'puppeteer-core'
import { onTestFinished } from 'vitest'
import { type PoliteBrowser, type WithRobotsOptions, withRobots } from '../src/index.ts'

export const HOME = 'http://localhost:PORT'
export const OTHER = 'http://127.0.0.1:PORT'
export const CRAWLER = { userAgent: 'TestBot/1.0 (+https://test.example/bot)', minDelayMs: 0, retries: 0 }
export const RULES: Reply = { status: 200, body: 'User-agent: *\nDisallow: /private\n' }
export const SLOW: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' }

export async function startWeb(web: Readonly<Record<string, Reply>>): Promise<Sites> {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  sites.answerAll(web)
  return sites
}

export async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.createBrowserContext()
  onTestFinished(async () => {
    if (!context.closed) await context.close().catch(() => undefined) // its browser may be gone
  })
  return context
}

export interface Kit {
  readonly sites: Sites
  readonly context: BrowserContext
  readonly robots: PoliteBrowser
}

export async function kit(
  browser: Browser,
  web: Readonly<Record<string, Reply>>,
  options: WithRobotsOptions = CRAWLER,
): Promise<Kit> {
  const sites = await startWeb(web)
  const context = await openContext(browser)
  const robots = await withRobots(context, options)
  onTestFinished(() => robots.close())
  return { sites, context, robots }
}

/** What the promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** The next request of a page that fails. */
export function failing(tab: Page): Promise<HTTPRequest> {
  return new Promise((resolve) => tab.once('requestfailed', resolve))
}

/** Resolves when a gate says this of a URL. */
export function told(what: 'wait' | 'abandon' | 'leave' | 'done' | 'refuse', url: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const name = `politely:gate:${what}`
  const hear = (message: unknown) => {
    if ((message as { readonly url: string }).url === url) resolve()
  }
  subscribe(name, hear)
  onTestFinished(() => void unsubscribe(name, hear))
  return promise
}
