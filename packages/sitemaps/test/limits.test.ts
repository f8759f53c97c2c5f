// The limits of a reading, the signal, and invalid options.
import { gzipSync } from 'node:zlib'
import { index, lastmod, NAMESPACE, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { type SitemapSite, startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ResumeToken, readSitemaps, type SitemapEntry } from '../src/index.ts'
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

  it.each(['at once', 'with pauses'])('end a file whose bytes never end, and come %s', async (how) => {
    async function* endless() {
      yield Buffer.from(`<urlset ${NAMESPACE}>`)
      for (let n = 0; ; n++) {
        if (how === 'with pauses') await new Promise((resolve) => setTimeout(resolve, 1))
        yield Buffer.from(url(`${origin}/${n}`).padEnd(20_000))
      }
    }
    const reading = readSitemaps(endless(), { base: `${origin}/s.xml`, limits: { maxFileMs: 100 } })
    expect((await all(reading)).length).toBeGreaterThan(0)
    expect(reading.files.list[0]).toMatchObject({ outcome: 'partial', reason: 'limit: maxFileMs' })
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

  it('admit a URL of 2,048 characters as written, and no longer one', async () => {
    const of = (length: number) => `${origin}/${'é'.repeat(length - origin.length - 1)}`
    const entries = readSitemaps(Buffer.from(urlset(url(of(2_048)) + url(of(2_049)))), { base: `${origin}/s.xml` })
    expect((await all(entries)).map(({ loc }) => loc.length)).toEqual([2_048])
    expect(entries.files.list[0]?.problems).toMatchObject([{ code: 'long-url', count: 1 }])
    const children = readSitemaps(Buffer.from(index(of(2_048), of(2_049))), { base: `${origin}/i.xml` })
    await all(children)
    expect(children.files.list[0]).toMatchObject({ sitemaps: 1, problems: [{ code: 'long-url', count: 1 }] })
  })

  it('bound the URLs that are kept, of files and of redirects', async () => {
    const name = 'é'.repeat(1_000) // 6,000 bytes as kept
    const urls = Array.from({ length: 20 }, (_, n) => `${origin}/${n}${name}`)
    const limits = { maxQueueBytes: 50_000 }
    const listed = readSitemaps(Buffer.from(index(...urls)), { base: `${origin}/i.xml`, limits })
    await all(listed)
    expect(listed.files.list[0]).toMatchObject({ reason: 'limit: maxQueueBytes', outcome: 'partial', sitemaps: 8 })
    const target = (n: number) => ({ status: 302, headers: { location: `/${n}${encodeURI('é'.repeat(300))}` } })
    site.respond(Object.fromEntries(urls.map((_, n) => [`/${n}`, target(n)])))
    const sources = urls.map((_, n) => `${origin}/${n}`)
    const redirected = readSitemaps(sources, { fetch: politeFetch(), limits: { maxQueueBytes: 10_000 } })
    await all(redirected)
    expect(redirected.files.list.at(-1)).toMatchObject({ outcome: 'skipped', reason: 'limit: maxQueueBytes' })
    expect(site.requests.length).toBeLessThan(20)
  })

  it('follow no redirect to a longer URL, and keep no long header', async () => {
    const long = 'x'.repeat(2_048)
    site.respond({
      '/a': { status: 302, headers: { location: `/${long}` } },
      '/b': { body: urlset(''), headers: { etag: `"${long}"`, 'last-modified': long } },
    })
    const reading = readSitemaps([`${origin}/a`, `${origin}/b`], { fetch: politeFetch() })
    await all(reading)
    const [a, b] = reading.files.list
    expect(a).toMatchObject({ reason: 'redirects', detail: 'its Location is longer than 2,048 characters' })
    expect(JSON.stringify(b).length).toBeLessThan(1_000)
  })

  it('bound the bytes that come in', async () => {
    const body = urlset(Array.from({ length: 1_000 }, (_, n) => url(`${origin}/${n}`)).join('\n'))
    const reading = readSitemaps(Buffer.from(body), { base: `${origin}/s.xml`, limits: { maxBytesIn: 5_000 } })
    expect((await all(reading)).length).toBeGreaterThan(50)
    expect(reading.files.list[0]).toMatchObject({ outcome: 'partial', reason: 'limit: maxBytesIn', bytesIn: 5_000 })
  })
})

describe('gzip in gzip that unpacks to nothing', () => {
  const header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
  const emptyBlock = [0, 0, 0, 0xff, 0xff]
  const nothing = Buffer.concat([Buffer.from(header), Buffer.alloc(20_000_000, Buffer.from(emptyBlock))])
  const bombs = { 'in two layers': gzipSync(nothing), 'in three layers': gzipSync(gzipSync(nothing)) }

  it.each(Object.entries(bombs))('%s ends at each limit, and when it is aborted', async (_name, bomb) => {
    for (const [name, limit] of Object.entries({ maxBytesOut: 1_000, maxFileMs: 20, maxMs: 20 })) {
      const reading = readSitemaps(bomb, { base: `${origin}/s.xml`, limits: { [name]: limit } })
      expect(await all(reading)).toEqual([])
      expect(reading.files.list[0]?.reason).toBe(`limit: ${name}`)
    }
    const signal = AbortSignal.timeout(20)
    await expect(all(readSitemaps(bomb, { base: `${origin}/s.xml`, signal }))).rejects.toThrow('due to timeout')
  })
})

describe('bytes in memory', () => {
  const base = 'https://site.example/s.xml'
  const bytes = Buffer.from(urlset(Array.from({ length: 50_000 }, (_, n) => url(`https://site.example/${n}`)).join('')))
  const packed = gzipSync(bytes)

  it.each([
    ['plain', bytes],
    ['packed', packed],
  ])('%s, let timers run, so that maxMs and signals apply', async (_name, source) => {
    const late = readSitemaps(source, { base, limits: { maxMs: 20 } })
    expect((await all(late)).length).toBeLessThan(50_000)
    expect(late.files.list[0]).toMatchObject({ outcome: 'partial', reason: 'limit: maxMs' })
    const rest = readSitemaps(source, { base })
    expect((await all(rest)).length).toBe(50_000)
    const signal = AbortSignal.timeout(20)
    await expect(all(readSitemaps(source, { base, signal }))).rejects.toThrow('due to timeout')
  })
})

it('ends a batch of entries at maxMs, and continues it later', async () => {
  const file = urlset(Array.from({ length: 100 }, (_, n) => url(`${origin}/${n}`)).join(''))
  site.respond({ '/s.xml': { body: file } })
  const fetch = politeFetch()
  const first = readSitemaps([`${origin}/s.xml`], { fetch, limits: { maxMs: 300 } })
  const taken: SitemapEntry[] = []
  for await (const entry of first) {
    taken.push(entry)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  expect(taken.length).toBeLessThan(100)
  const second = readSitemaps([`${origin}/s.xml`], { fetch, resume: first.token() })
  expect(paths([...taken, ...(await all(second))])).toEqual(Array.from({ length: 100 }, (_, n) => `/${n}`))
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
    [
      () => readSitemaps(bytes, { base, maxEntries: 5 } as never),
      'maxEntries: is an option of `limits`; write limits: {',
    ],
    [
      () => readSitemaps({ maxEntries: 5 } as never, { fetch }),
      'is not a source; the first argument is a site such as',
    ],
    [() => readSitemaps(bytes, { base, earlier: [null] as never }), 'earlier[0].url: undefined is not'],
    [
      () => readSitemaps(bytes, { base, earlier: [{ url: base, depth: 0, parent: 'x' }] as never }),
      'earlier[0].parent: "x"',
    ],
    [() => readSitemaps(bytes, { base, earlier: 7 as never }), 'earlier: 7 is not a list'],
  ])('are checked %#', (call, message) => {
    expect(call).toThrow(message)
  })

  const task = { url: base, depth: 0 }
  it.each([
    [{}, 'resume: '],
    [null, 'resume: null is not a token'],
    [{ version: 1, queue: [null], read: [] }, 'resume.queue[0].url: undefined is not an http or https URL'],
    [{ version: 1, queue: [{ ...task, url: 'data:,' }], read: [] }, 'resume.queue[0].url: "data:,"'],
    [{ version: 1, queue: [{ ...task, depth: -1e9 }], read: [] }, 'resume.queue[0].depth: -1000000000 is not'],
    [{ version: 1, queue: [{ ...task, skip: 0.5 }], read: [] }, 'resume.queue[0].skip: 0.5 is not a whole number'],
    [{ version: 1, queue: [task, { ...task, parent: 'x' }], read: [] }, 'resume.queue[1].parent: "x" is not'],
    [{ version: 1, queue: [{ ...task, from: 'file:///etc' }], read: [] }, 'resume.queue[0].from: "file:///etc"'],
    [{ version: 1, queue: [], read: [7] }, 'resume.read[0]: 7 is not'],
    [
      { version: 1, queue: Array(500).fill(task), read: [] },
      'resume.queue: has 500 files, more than limits.maxFiles (9)',
    ],
  ])('the resume token is checked %#', (resume, message) => {
    expect(() => readSitemaps(bytes, { base, resume: resume as never, limits: { maxFiles: 9 } })).toThrow(message)
  })
})

describe('a reading is iterated once', () => {
  const reading = () =>
    readSitemaps(Buffer.from(urlset(url('https://example.com/a'))), { base: 'https://example.com/' })

  it('and says so the second time', async () => {
    const read = reading()
    expect(await all(read)).toHaveLength(1)
    await expect(all(read)).rejects.toThrow(
      'reading: was iterated before, and keeps no entries; call readSitemaps again',
    )
  })

  it('and not after its results, which drop the entries', async () => {
    const read = reading()
    for await (const _file of read.files);
    await expect(all(read)).rejects.toThrow('reading: dropped its entries, since only `files` was iterated')
  })

  it('or at the same time as its results', async () => {
    const read = reading()
    const files = (async () => {
      for await (const _file of read.files);
      return read.files.list.length
    })()
    expect(await all(read)).toHaveLength(1)
    expect(await files).toBe(1)
  })
})
