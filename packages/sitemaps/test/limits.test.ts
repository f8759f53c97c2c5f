// The limits of a reading, the signal, and invalid options.
import { lastmod, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { type SitemapSite, startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ResumeToken, readSitemaps } from '../src/index.ts'
import { all, days, outcomes, paths, politeFetch } from './reading-site.ts'

let site: SitemapSite
let origin = ''
beforeAll(async () => {
  site = await startSitemapSite()
  origin = site.origin
})
afterAll(() => site[Symbol.asyncDispose]())

describe('limits', () => {
  it('of a reading leave the rest to a later one', async () => {
    const file = (name: string) => ({ body: urlset(['0', '1', '2'].map((n) => url(`${origin}/${name}${n}`)).join('')) })
    site.respond({ '/a.xml': file('a'), '/b.xml': file('b'), '/c.xml': file('c') })
    const fetch = politeFetch()
    const sources = ['a', 'b', 'c'].map((name) => `${origin}/${name}.xml`)
    const seen: string[] = []
    let resume: ResumeToken | undefined
    for (let readings = 0; readings < 5; readings++) {
      const reading = readSitemaps(sources, { fetch, limits: { maxEntries: 2 }, resume })
      seen.push(...paths(await all(reading)))
      resume = JSON.parse(JSON.stringify(reading.token()))
    }
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`/${name}0`, `/${name}1`, `/${name}2`]))
    expect(resume?.queue).toEqual([])
  })

  it('end a reading at maxEntries, and name the files that were not read', async () => {
    const file = (name: string) => ({ body: urlset(['0', '1', '2'].map((n) => url(`${origin}/${name}${n}`)).join('')) })
    site.respond({ '/a.xml': file('a'), '/b.xml': file('b') })
    const reading = readSitemaps([`${origin}/a.xml`, `${origin}/b.xml`], {
      fetch: politeFetch(),
      limits: { maxEntries: 2 },
    })
    expect(paths(await all(reading))).toEqual(['/a0', '/a1'])
    expect(outcomes(reading)).toEqual([
      '/a.xml partial (the limit maxEntries was reached): 2 entries',
      '/b.xml skipped: the limit maxEntries was reached',
    ])
  })

  it('end a file that hangs, and a reading that lasts too long', async () => {
    async function* hanging() {
      yield Buffer.from(urlset(url(`${origin}/a`)).repeat(100))
      await new Promise(() => undefined)
    }
    for (const limits of [{ maxFileMs: 20 }, { maxMs: 20 }]) {
      const reading = readSitemaps(hanging(), { base: `${origin}/s.xml`, limits })
      expect((await all(reading)).length).toBeGreaterThan(0)
      expect(reading.files.list[0]).toMatchObject({ outcome: 'partial', reason: `limit: ${Object.keys(limits)[0]}` })
    }
  })

  it('cancel a stream that hangs', async () => {
    let isCanceled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: () => new Promise(() => undefined),
      cancel: () => {
        isCanceled = true
      },
    })
    const reading = readSitemaps(stream, { base: `${origin}/s.xml`, limits: { maxFileMs: 10 } })
    expect(await all(reading)).toEqual([])
    expect(outcomes(reading)).toEqual(['/s.xml failed: the limit maxFileMs was reached'])
    expect(isCanceled).toBe(true)
  })

  it('bound the texts of one entry together', async () => {
    const image = `<image:image><image:loc>${origin}/1.png</image:loc><image:title>${'x'.repeat(60_000)}</image:title></image:image>`
    const body = urlset(`<url><loc>${origin}/a</loc>${image.repeat(100)}</url>`)
    const reading = readSitemaps(Buffer.from(body), { base: `${origin}/s.xml` })
    const [entry] = await all(reading)
    expect(entry?.images?.filter(({ title }) => title !== undefined).length).toBe(17)
    expect(reading.files.list[0]).toMatchObject({ outcome: 'partial', reason: 'limit: maxTextLength' })
  })

  it('bound the files that since leaves out', async () => {
    const child = (n: number) => `<sitemap><loc>${origin}/${n}.xml</loc>${lastmod(days(1, 28)[n] as string)}</sitemap>`
    const body = `<sitemapindex>${[1, 2, 3, 4, 5].map(child).join('')}</sitemapindex>`
    const options = { base: `${origin}/s.xml`, since: Date.UTC(2026, 5), limits: { maxFiles: 3 } }
    const reading = readSitemaps(Buffer.from(body), options)
    expect(await all(reading)).toEqual([])
    expect(reading.files.list.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
      'skipped since',
      'skipped since',
      'skipped since',
      'partial limit: maxFiles',
    ])
  })

  it('bound the bytes that come in', async () => {
    const body = urlset(Array.from({ length: 1_000 }, (_, n) => url(`${origin}/${n}`)).join('\n'))
    const reading = readSitemaps(Buffer.from(body), { base: `${origin}/s.xml`, limits: { maxBytesIn: 5_000 } })
    expect((await all(reading)).length).toBeGreaterThan(50)
    expect(reading.files.list[0]).toMatchObject({ outcome: 'partial', reason: 'limit: maxBytesIn', bytesIn: 5_000 })
  })
})

it('rejects with the reason of the signal', async () => {
  const controller = new AbortController()
  const reading = readSitemaps(Buffer.from(urlset(url(`${origin}/a`))), {
    base: `${origin}/s.xml`,
    signal: controller.signal,
  })
  controller.abort(new Error('enough'))
  await expect(all(reading)).rejects.toThrow('enough')
})

describe('options', () => {
  const base = 'https://example.com/s.xml'
  const bytes = new Uint8Array(0)
  it.each([
    [
      () => readSitemaps('https://example.com/sitemap.xml', { fetch }),
      'source: "https://example.com/sitemap.xml" has a path; write ["https://example.com/sitemap.xml"] for a sitemap',
    ],
    [() => readSitemaps('https://example.com', { fetch }), 'robots: is missing'],
    [() => readSitemaps([base], {}), 'fetch: is missing'],
    [() => readSitemaps([base, 'x'], { fetch }), 'source[1]: "x" is not an http or https URL'],
    [() => readSitemaps(7 as never, { fetch }), 'source: 7 is not a source'],
    [() => readSitemaps(bytes, {}), 'base: is missing'],
    [() => readSitemaps(bytes, undefined as never), 'options: is missing'],
    [() => readSitemaps(bytes, { base, since: Number.NaN }), 'since: NaN is not a time'],
    [() => readSitemaps(bytes, { base, limits: { maxFiles: 0 } }), 'limits.maxFiles: 0 is out of range'],
    [() => readSitemaps(bytes, { base, limits: { maxUrls: 1 } as never }), 'maxUrls: is an unknown option'],
    [() => readSitemaps(bytes, { base, resume: {} as never }), 'resume: '],
    [() => readSitemaps(bytes, { base, earlier: 7 as never }), 'earlier: 7 is not a list'],
  ])('are checked %#', (call, message) => {
    expect(call).toThrow(message)
  })
})
