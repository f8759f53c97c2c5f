// @module-tag nodes
// The table of kinds, read with politely(fetch) from a real server.
import { politely } from '@politely/gate'
import { sitemapCases } from '@politely/testkit/cases/sitemap-cases'
import { type SitemapSite, startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSitemaps, SitemapIncompleteError } from '../src/index.ts'

let site: SitemapSite
beforeAll(async () => {
  site = await startSitemapSite()
})
afterAll(() => site[Symbol.asyncDispose]())

for (const { kind, name, site: replies, start = ['/sitemap.xml'], limits, expected } of sitemapCases) {
  test(`${kind}: ${name}`, async () => {
    const { origin, otherOrigin } = site
    site.respond(replies(origin, otherOrigin))
    await using fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', network: 'any', minDelayMs: 0 })
    const source = start === 'robots' ? origin : start.map((path) => `${origin}${path}`)
    const reading = readSitemaps(source, { fetch, ...(limits && { limits }) })
    const pages: string[] = []
    const dates: (string | null)[] = []
    let error: unknown
    try {
      for await (const { loc, lastmod } of reading) {
        pages.push(loc.replace(origin, ''))
        dates.push(lastmod === undefined ? null : new Date(lastmod).toISOString())
      }
    } catch (caught) {
      error = caught
    }
    expect(error instanceof SitemapIncompleteError ? 'breaks off' : error).toBe(
      expected.breaksOff ? 'breaks off' : undefined,
    )
    const files = reading.files.list
    expect(pages).toEqual(expected.pages)
    const outcomes = files.map(({ url, outcome, reason }) => [
      url.replace(origin, ''),
      reason === undefined ? outcome : `${outcome} (${reason})`,
    ])
    expect(Object.fromEntries(outcomes)).toEqual(expected.files)
    if (expected.problems) expect(files[0]?.problems.map(({ code }) => code)).toEqual(expected.problems)
    if (expected.dates) expect(dates).toEqual(expected.dates)
    if (expected.isTrusted !== undefined) expect(files[0]?.dates.isTrusted).toBe(expected.isTrusted)
  })
}
