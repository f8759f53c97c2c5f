// Texts that are not quite right: URLs are read, or a problem says what is wrong.
import { gzipSync } from 'node:zlib'
import { url, urlset } from '@politely/testkit/cases/sitemap-case'
import { startSitemapSite } from '@politely/testkit/servers/sitemap-site'
import { expect, it } from 'vitest'
import { describeResult } from '../src/file-result.ts'
import { readSitemaps } from '../src/index.ts'
import { all, politeFetch } from './reading-site.ts'

const SITE = 'https://site.example'
const feed = (loc: string) => `<feed><entry><link href="${loc}"/></entry></feed>`

const texts: Readonly<Record<string, readonly [file: string | Buffer, locs: readonly string[], ...codes: string[]]>> = {
  'an entity of HTML': [urlset(url(`${SITE}/caf&eacute;`)), ['/caf&eacute;'], 'unknown-entity'],
  'an entity that the file declares': [
    `<!DOCTYPE urlset [<!ENTITY test "x">]>${urlset(url(`${SITE}/&test;`))}`,
    ['/&test;'],
    'unknown-entity',
  ],
  'an & that was escaped twice': [urlset(url(`${SITE}/?a=1&amp;amp;b`)), ['/?a=1&amp;b'], 'unknown-entity'],
  'an escaped & in CDATA': [urlset(url(`<![CDATA[${SITE}/?a&amp;b]]>`)), ['/?a&amp;b'], 'unknown-entity'],
  'an entity in the URL of an image': [
    urlset(url(`${SITE}/a`, `<image:image><image:loc>${SITE}/&eacute;.png</image:loc></image:image>`)),
    ['/a'],
    'unknown-entity',
  ],
  'an entity in a link of Atom': [feed(`${SITE}/caf&eacute;`), ['/caf&eacute;'], 'unknown-entity'],
  'a bare &': [urlset(url(`${SITE}/?a=1&b=2&copy=3;`)), ['/?a=1&b=2&copy=3;']],
  'a byte that is not UTF-8': [Buffer.from(urlset(url(`${SITE}/caf\xe9`)), 'latin1'), ['/caf\uFFFD'], 'bad-character'],
  'a byte that is not UTF-8, in a list': [Buffer.from(`${SITE}/caf\xe9\n`, 'latin1'), ['/caf\uFFFD'], 'bad-character'],
  'half of a surrogate pair': [urlset(url(`${SITE}/&#55357;`)), ['/\uFFFD'], 'bad-character'],
  'url in loc': [urlset(url(`<url>${SITE}/a</url>`, '<priority>0.5</priority>') + url(`${SITE}/b`)), ['/a 0.5', '/b']],
  'loc in loc': [urlset(url(`<loc>${SITE}/a</loc>`)), ['/a']],
  'another element in loc': [urlset(url(`<a href="x">${SITE}/a</a>`)), ['/a']],
  'an empty loc that is not closed': [urlset(`<url><loc>\n${url(`${SITE}/a`)}`), ['/a']],
}

it.each(Object.keys(texts))('%s', async (name) => {
  const [file, locs, ...codes] = texts[name] as (typeof texts)[string]
  const reading = readSitemaps(Buffer.from(file), { base: `${SITE}/s.xml` })
  const found = (await all(reading)).map(
    ({ loc, priority }) => `${loc.slice(SITE.length)}${priority ? ` ${priority}` : ''}`,
  )
  expect(found).toEqual(locs)
  expect(reading.files.list[0]?.problems.map(({ code }) => code)).toEqual(codes)
})

it('sitemap in loc, in an index', async () => {
  const index = `<sitemapindex><sitemap><loc><sitemap>${SITE}/1.xml</sitemap></loc></sitemap></sitemapindex>`
  const reading = readSitemaps(Buffer.from(index), { base: `${SITE}/i.xml` })
  await all(reading)
  expect(reading.files.list.map((result) => result.url)).toEqual([`${SITE}/i.xml`, `${SITE}/1.xml`])
})

it('a wrong Content-Encoding is not called an early end', async () => {
  await using site = await startSitemapSite()
  const whole = urlset(url(`${site.origin}/a`))
  const packed = gzipSync(
    Buffer.from(urlset(Array.from({ length: 9_000 }, (_, n) => url(`${site.origin}/${n}`)).join(''))),
  )
  packed.fill(0xff, packed.length - 200, packed.length - 100)
  const replies = Object.entries({ gzip: whole, br: whole, deflate: whole, damaged: packed }).map(([coding, body]) => [
    `/${coding}`,
    { body, headers: { 'content-encoding': coding === 'damaged' ? 'gzip' : coding } },
  ])
  site.respond(Object.fromEntries(replies))
  const fetch = politeFetch()
  const described: string[] = []
  for (const coding of ['gzip', 'br', 'damaged']) {
    const reading = readSitemaps([`${site.origin}/${coding}`], { fetch })
    await all(reading)
    described.push(reading.files.list.map((file) => `${file.reason}, ${describeResult(file)}`).join())
  }
  expect(described).toEqual([
    expect.stringMatching(/^not-gzip, failed: the body cannot be unpacked as its Content-Encoding says: incorrect/),
    expect.stringMatching(/^not-gzip, failed: the body cannot be unpacked as its Content-Encoding says: Decompression/),
    expect.stringMatching(/^gzip-damaged, partial \(the body cannot be unpacked as its Content-Encoding says: /),
  ])
})
