// @module-tag full
import { expect, it } from 'vitest'
import { LONG_RULES, longFile } from '../src/files/long-file.ts'
import { siteFile } from '../src/files/site-file.ts'
import { URLS_PER_FILE, urlsFor } from '../src/files/site-urls.ts'
import { quantile } from '../src/median.ts'

const files = Array.from({ length: 2_500 }, (_, i) => {
  const file = siteFile(i + 1)
  const text = file.bytes.toString('latin1')
  const paths = Array.from(text.matchAll(/^[ \t]*(?:dis)?allow[ \t]*:[ \t]*([^\r\n#]*)/gim), ([, path = '']) =>
    path.trim(),
  )
  const agents = Array.from(text.matchAll(/^user-agent[ \t]*:[ \t]*([^\r\n#]*)/gim), ([, name = '']) => name.trim())
  return { ...file, text, paths, agents }
})

/** A figure of the real files, and the relative deviation that is allowed for generated ones. */
it.each([
  ['bytes, half of the files', 0.5, 'bytes', 561, 0.15],
  ['bytes, nine in ten', 0.9, 'bytes', 3_900, 0.15],
  ['bytes, all but one in a hundred', 0.99, 'bytes', 75_000, 0.3],
  ['rules, half of the files', 0.5, 'rules', 12, 0.1],
  ['rules, nine in ten', 0.9, 'rules', 81, 0.1],
  ['rules, all but one in a hundred', 0.99, 'rules', 472, 0.5],
] as const)('generated files have as many %s as real ones', (_, share, of, expected, tolerance) => {
  const values = files.map(({ bytes, paths }) => (of === 'bytes' ? bytes.length : paths.length))
  const actual = quantile(values, share)
  expect(Math.abs(actual / expected - 1), `${actual}, not ${expected}`).toBeLessThanOrEqual(tolerance)
})

it.each([
  ['a * in a path', 0.46, 0.04, ({ paths }) => paths.some((path) => path.includes('*'))],
  ['a final $', 0.14, 0.03, ({ paths }) => paths.some((path) => path.endsWith('$'))],
  ['a group for everyone', 0.92, 0.05, ({ agents }) => agents.includes('*')],
  ['several user-agent lines', 0.34, 0.05, ({ agents }) => agents.length > 1],
  ['CR LF', 0.32, 0.05, ({ text }) => text.includes('\r\n')],
  ['sitemaps', 0.52, 0.05, ({ text }) => /^sitemap:/im.test(text)],
  ['a crawl-delay', 0.18, 0.04, ({ text }) => /^crawl-delay:/im.test(text)],
  ['bytes beyond ASCII', 0.04, 0.02, ({ text }) => /[\x80-\xff]/.test(text)],
  ['no rules', 0.07, 0.02, ({ paths }) => paths.length === 0],
] as [string, number, number, (file: (typeof files)[number]) => boolean][])(
  'generated files have %s as often as real ones',
  (_, share, tolerance, has) => {
    const actual = files.filter(has).length / files.length
    expect(Math.abs(actual - share), `${actual}, not ${share}`).toBeLessThanOrEqual(tolerance)
  },
)

it('generates the same file and the same URLs for the same seed', () => {
  for (const seed of [1, 77, 1_234]) {
    expect(siteFile(seed)).toEqual(siteFile(seed))
    expect(urlsFor(siteFile(seed), seed)).toEqual(urlsFor(siteFile(seed), seed))
  }
  expect(siteFile(1).bytes).not.toEqual(siteFile(2).bytes)
  expect(longFile(1, 0.3)).toEqual(longFile(1, 0.3))
})

it('generates absolute URLs of the file\u2019s own origin, with a realistic length', () => {
  const urls = files.slice(0, 200).flatMap((file, i) => {
    const fileUrls = urlsFor(file, i)
    expect(fileUrls).toHaveLength(URLS_PER_FILE)
    expect(fileUrls.filter((url) => new URL(url).origin !== file.origin)).toEqual([])
    return fileUrls
  })
  const half = quantile(
    urls.map(({ length }) => length),
    0.5,
  )
  expect(half).toBeGreaterThan(50)
  expect(half).toBeLessThan(70)
})

it.each([0, 0.3])(
  'a long file has 12,000 different rules, a share of %d with wildcards, and fewer than 500 KiB',
  (share) => {
    const { text } = longFile(1, share)
    const paths = Array.from(text.matchAll(/llow: (\S+)/g), ([, path = '']) => path)
    expect(new Set(paths).size).toBe(LONG_RULES)
    expect(text.length).toBeLessThan(500 * 1024)
    expect(paths.filter((path) => path.includes('*')).length / LONG_RULES).toBeCloseTo(share, 1)
  },
)
