// `politely sitemap`, and `--sitemap` of match and diff.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ReturnLinks } from '../src/commands/sitemap/return-links.ts'
import { writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const path = writeFiles({ 'robots.txt': 'User-agent: *\nDisallow: /a0\n', 'old.txt': '' })
const BOT = ['--user-agent', 'ExampleBot', '--min-delay', '0']

const urlset = (urls: readonly string[]) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc><lastmod>2026-01-02</lastmod></url>`).join('')}</urlset>`

/** Starts a site with an index of five sitemaps: two whole, one cut, one missing, one disallowed. */
async function startShop(): Promise<string> {
  const server = await startSites()
  onTestFinished(() => server.close())
  const origin = server.withPort('http://127.0.0.1:PORT')
  const urls = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${origin}/${name}${i}`)
  const names = ['a.xml', 'b.xml.gz', 'cut.xml', 'gone.xml', 'private/x.xml']
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'robots.txt': `User-agent: *\nDisallow: /private\nSitemap: ${origin}/index.xml\n`,
    'index.xml': `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${names.map((name) => `<sitemap><loc>${origin}/${name}</loc></sitemap>`).join('')}</sitemapindex>`,
    'a.xml': urlset(urls('a', 3)),
    'b.xml.gz': gzipSync(urlset(urls('b', 2))),
    'cut.xml': urlset(urls('c', 5)).slice(0, 252),
  }
  for (const [name, body] of Object.entries(files))
    server.respond(`http://127.0.0.1:PORT/${name}`, { status: 200, body })
  return origin
}

const sitemap = async (origin: string, ...args: string[]) => {
  const result = await runInThisProcess(['sitemap', origin, ...BOT, ...args])
  return {
    ...result,
    stdout: result.stdout.replaceAll(origin, 'SITE'),
    stderr: result.stderr.replaceAll(origin, 'SITE'),
  }
}

test('reports each file, and what is missing', async () => {
  const { stdout, code } = await sitemap(await startShop())
  expect(stdout.replaceAll(/[\d.]+ (?:bytes|kB)/g, 'SIZE')).toMatchInlineSnapshot(`
    "✓ complete   SITE/index.xml
                 0 entries, 5 sitemaps, SIZE
    ✓ complete   SITE/a.xml
                 3 entries, SIZE
                 its dates cannot be trusted: 100 % are equal
    ✓ complete   SITE/b.xml.gz
                 2 entries, SIZE (gzip)
                 its dates cannot be trusted: 100 % are equal
    ~ partial    SITE/cut.xml
                 the file ended before its end; 2 entries, SIZE
                 its dates cannot be trusted: 100 % are equal
    ✗ failed     SITE/gone.xml
                 status 404
    ✗ failed     SITE/private/x.xml
                 disallowed: line 2 of robots.txt says "Disallow: /private" to *

    7 URLs in 6 files; 1 partial, 2 failed
    "
  `)
  expect(code).toBe(1)
})

test('prints the URLs as NDJSON and CSV, and the files on stderr', async () => {
  const origin = await startShop()
  const { stdout, stderr } = await runInThisProcess(['sitemap', `${origin}/b.xml.gz`, ...BOT, '--format', 'ndjson'])
  expect(parseJsonLines(stdout).map(({ version, loc, file }) => [version, loc, file])).toEqual([
    [1, `${origin}/b0`, `${origin}/b.xml.gz`],
    [1, `${origin}/b1`, `${origin}/b.xml.gz`],
  ])
  expect(stderr).toContain('✓ complete')
  const csv = await runInThisProcess(['sitemap', `${origin}/b.xml.gz`, ...BOT, '--format', 'csv', '--max-urls', '1'])
  expect(csv.stdout).toBe(
    `url,lastmod,changefreq,priority,foreign,file\r\n${origin}/b0,2026-01-02T00:00:00.000Z,,,,${origin}/b.xml.gz\r\n`,
  )
  expect(csv.stderr).toContain('limit maxEntries')
})

test('names --guess if robots.txt names no sitemap', async () => {
  const server = await startSites()
  onTestFinished(() => server.close())
  const origin = server.withPort('http://127.0.0.1:PORT')
  server.respond('http://127.0.0.1:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow:\n' })
  server.respond('http://127.0.0.1:PORT/sitemap.xml', { status: 200, body: urlset([`${origin}/a`]) })
  const { stdout, code } = await sitemap(origin)
  expect(stdout).toContain('robots.txt names no sitemap\n             --guess reads /sitemap.xml of such a site\n')
  expect(code).toBe(1)
  expect((await sitemap(origin, '--guess')).stdout).toContain('✓ complete   SITE/sitemap.xml')
})

test('reports a file whose connection ends early, in every format', async () => {
  const body = urlset(['https://example.com/a', 'https://example.com/b'])
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': body.length + 1 })
    response.write(body, () => setImmediate(() => response.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const file = `http://127.0.0.1:${(server.address() as AddressInfo).port}/s.xml`
  for (const format of ['text', 'json', 'ndjson', 'csv']) {
    const { stdout, stderr, code } = await sitemap(file, '--format', format)
    expect(stdout + stderr).toContain('the body ended early: terminated')
    expect(code).toBe(1)
  }
  const match = await runInThisProcess(['match', '--robots', path('robots.txt'), '--sitemap', file, ...BOT.slice(0, 2)])
  expect(parseJsonLines(match.stdout)).toHaveLength(2)
  expect(match.stderr).toContain('the body ended early: terminated')
})

/** Starts a site with these files. */
async function startFiles(files: (origin: string) => Readonly<Record<string, string>>): Promise<string> {
  const server = await startSites()
  onTestFinished(() => server.close())
  const origin = server.withPort('http://127.0.0.1:PORT')
  for (const [name, body] of Object.entries(files(origin)))
    server.respond(`http://127.0.0.1:PORT/${name}`, { status: 200, body })
  return origin
}

test('does not call a file with problems complete without them', async () => {
  const origin = await startFiles((site) => ({
    's.xml': `\n<?xml version="1.0"?>${urlset([`${site}/?a&b`, `${site}/b`]).replace('2026-01-02', '2026-01-01')}`,
  }))
  const { stdout, code } = await sitemap(`${origin}/s.xml`)
  expect(stdout.replaceAll(origin, 'SITE')).toMatchInlineSnapshot(`
    "! complete   SITE
                 2 entries, 244 bytes
                 1 time: an empty line or other text comes before <?xml or the first element; delete it, such as "\\n"
                 1 time: a text or an attribute has a raw & or <; write &amp; or &lt;, such as "SITE/?a&b"

    2 URLs in 1 file; 1 with problems
    "
  `)
  expect(code).toBe(0)
})

test('quotes what is no sitemap, and says what reads the sitemaps of a robots.txt', async () => {
  const origin = await startFiles(() => ({
    's.xml': '<br />\n<b>Notice</b>: Undefined index: HTTP_HOST in <b>/a.php</b> on line <b>3</b>',
    'robots.txt': 'User-agent: *\nDisallow: /x\nSitemap: https://example.com/a.xml\n',
  }))
  const { stdout } = await sitemap(`${origin}/s.xml`)
  expect(stdout).toContain(
    'nor a list of URLs; it begins with "<br /> <b>Notice</b>: Undefined index: HTTP_HOST in <b>/a.ph"\n',
  )
  const robots = await sitemap(`${origin}/robots.txt`)
  expect(robots.stdout.replaceAll(origin, 'SITE')).toContain(
    'politely sitemap SITE reads the sitemaps that a robots.txt names\n',
  )
  expect(robots.code).toBe(1)
})

describe('--return-links', () => {
  const page = (loc: string, alternates: Readonly<Record<string, string>>) =>
    `<url><loc>${loc}</loc>${Object.entries(alternates)
      .map(([code, href]) => `<xhtml:link rel="alternate" hreflang="${code}" href="${href}"/>`)
      .join('')}</url>`
  const pages = (...list: readonly string[]) =>
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">${list.join('')}</urlset>`

  test('names pages that are not named in return', async () => {
    const all = (site: string) => ({ en: `${site}/en`, de: `${site}/de`, fr: `${site}/fr`, it: `${site}/it` })
    const origin = await startFiles((site) => ({
      'robots.txt': `Sitemap: ${site}/1.xml\nSitemap: ${site}/2.xml\n`,
      '1.xml': pages(page(`${site}/en`, all(site)), page(`${site}/fr`, { fr: `${site}/fr` })),
      '2.xml': pages(page(`${site}/de`, { de: '/de#x', en: '/en', 'x-default': '/en' })),
    }))
    const text = await sitemap(origin, '--return-links')
    expect(text.stdout.slice(text.stdout.indexOf('! no return'))).toMatchInlineSnapshot(`
      "! no return  2 of 4 links to pages in other languages have no return link
                   SITE/en names SITE/fr, which does not name it
                   SITE/en names SITE/it, which is in none of the sitemaps

      3 URLs in 2 files; 1 with problems
      "
    `)
    expect(text.code).toBe(1)
    const { stdout } = await sitemap(origin, '--return-links', '--json')
    const from = 'SITE/en'
    expect(JSON.parse(stdout).returnLinks).toEqual({
      links: 4,
      missing: 2,
      otherHosts: 0,
      examples: [
        { from, to: 'SITE/fr', listed: true },
        { from, to: 'SITE/it', listed: false },
      ],
      complete: true,
    })
    const csv = await sitemap(origin, '--return-links', '--format', 'csv')
    expect(csv.stderr).toContain('SITE/en names SITE/fr, which does not name it\n')
    const whole = await sitemap(`${origin}/1.xml`, '--return-links', '--max-urls', '1')
    expect(whole.stdout).toContain('- returned   no links to check\n')
    expect(whole.stdout).toContain('             links to pages that were not read are left out\n')
  })

  test('does not count pages that --since leaves out, and pages of other hosts', async () => {
    const dated = (body: string) => body.replace('</loc>', '</loc><lastmod>2026-11-02</lastmod>')
    const origin = await startFiles((site) => ({
      'robots.txt': `Sitemap: ${site}/1.xml\n`,
      '1.xml': pages(
        dated(page(`${site}/en`, { de: `${site}/de`, fr: 'https://fr.example/' })),
        dated(page(`${site}/de`, { en: `${site}/en` })).replace('11-02', '10-01'),
        ...['03', '04', '05'].map((day) => dated(page(`${site}/${day}`, {})).replace('11-02', `10-${day}`)),
      ),
    }))
    const since = await sitemap(origin, '--return-links', '--since', '2026-11-01')
    expect(since.stdout).toContain(
      '- returned   no links to check\n             links to pages that were not read are left out\n',
    )
    expect(since.code).toBe(0)
    const all = await sitemap(origin, '--return-links')
    expect(all.stdout).toContain('links to 1 host whose sitemaps were not read are left out\n')
    expect(all.code).toBe(0)
  })

  test('does not count pages that were not read, nor links after the memory is used up', () => {
    const entry = (loc: string, href: string) =>
      ({ loc, alternates: [{ href, hreflang: 'de' }], file: '', foreign: false }) as const
    const [a, b, c] = ['https://site.example/a', 'https://site.example/b', 'https://site.example/c'] as const
    const whole = new ReturnLinks()
    for (const [from, to] of [
      [a, b],
      [b, a],
      [b, c],
    ] as const)
      whole.add(entry(from, to))
    expect(whole.result(true)).toMatchObject({ links: 3, missing: 1, complete: true })
    expect(whole.result(false)).toMatchObject({ links: 2, missing: 0, complete: false })
    const other = new ReturnLinks()
    for (const to of ['https://site.de/', 'https://site.de/b', 'android-app://x/y', b]) other.add(entry(a, to))
    expect(other.result(true)).toMatchObject({ links: 1, missing: 1, otherHosts: 1 })
    const full = new ReturnLinks(300)
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const)
      full.add(entry(from, to))
    expect(full.result(true)).toEqual({ links: 0, missing: 0, otherHosts: 0, examples: [], complete: false })
  })
})

test('exits with 1 if --max-files leaves files out', async () => {
  const { code, stdout } = await sitemap(await startShop(), '--max-files', '2')
  expect(stdout).toMatch(/\n[03] URLs? in \d files?; /)
  expect(code).toBe(1)
})

test('match and diff read the URLs of a site', async () => {
  const origin = await startShop()
  const args = ['--sitemap', `${origin}/a.xml`, '--user-agent', 'ExampleBot']
  const match = await runInThisProcess(['match', '--robots', path('robots.txt'), ...args])
  expect(parseJsonLines(match.stdout).filter(({ allowed }) => !allowed)).toMatchObject([{ url: `${origin}/a0` }])
  const gone = await runInThisProcess([
    'match',
    '--robots',
    path('robots.txt'),
    ...args,
    '--sitemap',
    `${origin}/gone.xml`,
  ])
  expect(gone.stderr).toContain(`${origin}/gone.xml: failed: status 404`)
  const diff = await runInThisProcess(['diff', path('old.txt'), path('robots.txt'), ...args, '--crawler', 'ExampleBot'])
  expect(diff.stdout).toContain('URLs become disallowed\n    1 by line 2 of the new file, Disallow: /a0')
})

test.for([
  [['sitemap'], 'no site was given; write one such as https://example.com, or the URL of a sitemap'],
  [['sitemap', path('robots.txt'), ...BOT], 'this is a file; to check the URLs in it, write politely match --urls'],
  [
    ['sitemap', 'example', ...BOT],
    '"example" is not the URL of a site or a sitemap; write one such as https://example.com',
  ],
  [['sitemap', 'http://127.0.0.1:9/', ...BOT, '--since', 'soon'], '--since: "soon" is not a date; write one such as'],
  [
    ['match', '--robots', path('robots.txt'), '--urls', 'x', '--sitemap', 'y', ...BOT.slice(0, 2)],
    '--urls and --sitemap cannot be combined',
  ],
] as const)('%j exits with 2', async ([args, message]) => {
  const { code, stderr } = await runInThisProcess([...args])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})
