// Other readers of sitemaps, which read the same cases.
import { Readable } from 'node:stream'
import { RobotsTxtFile, Sitemap } from '@crawlee/utils'
import { politely } from '@politely/gate'
import { parseSitemap } from 'sitemap'
import Sitemapper from 'sitemapper'
import { readSitemaps, type SitemapLimits } from '../src/index.ts'

/** What a reader found: the pages, and whether it told that something is missing. */
export interface Found {
  readonly pages: readonly string[]
  readonly tells: boolean
}

export interface OtherReader {
  readonly name: string
  /** @param urls The sitemaps; undefined for the sitemaps that robots.txt names. */
  read(
    origin: string,
    urls: readonly string[] | undefined,
    limits: SitemapLimits | undefined,
  ): Promise<Found | 'not-offered'>
}

export const readers: readonly OtherReader[] = [
  {
    name: '@politely/sitemaps',
    async read(origin, urls, limits) {
      await using fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', network: 'any', minDelayMs: 0 })
      const reading = readSitemaps(urls ?? origin, { fetch, ...(limits && { limits }) })
      const pages: string[] = []
      for await (const { loc } of reading) pages.push(loc)
      return { pages, tells: reading.files.list.some(({ outcome }) => outcome === 'partial' || outcome === 'failed') }
    },
  },
  {
    name: '@crawlee/utils',
    async read(origin, urls) {
      const list = urls ?? (await RobotsTxtFile.find(origin)).getSitemaps()
      const found = await Sitemap.load([...list], undefined, { sitemapRetries: 0, reportNetworkErrors: true })
      return { pages: found.urls, tells: false }
    },
  },
  {
    name: 'sitemapper',
    async read(_origin, urls) {
      if (urls === undefined) return 'not-offered'
      const pages: string[] = []
      let tells = false
      for (const url of urls) {
        const { sites, errors } = await new Sitemapper({ timeout: 4_000 }).fetch(url)
        for (const site of sites) pages.push(String(site))
        tells ||= errors.length > 0
      }
      return { pages, tells }
    },
  },
  {
    /** Parses one file; requests are left to the caller. */
    name: 'sitemap',
    async read(_origin, urls) {
      if (urls === undefined || urls.length > 1) return 'not-offered'
      const { body } = await fetch(urls[0] as string)
      const items = await parseSitemap(Readable.fromWeb(body as never))
      return { pages: items.map(({ url }) => url), tells: false }
    },
  },
]
