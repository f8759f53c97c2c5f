// Product tokens of the real headers in the npm package crawler-user-agents. Its patterns are
// written by people and not always the crawler's name, so the test counts, and lists what differs.
import crawlers from 'crawler-user-agents'
import { expect, test } from 'vitest'
import { productTokenOf } from '../src/index.ts'
import { explainMissingToken } from '../src/internal.ts'

const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Whether the token is the crawler's own name, by the pattern that detects the crawler. */
function isOwnName(token: string, pattern: string, header: string): boolean {
  if (/[Bb]ot|[Cc]rawl|[Ss]pider|^Ya[a-z]*[A-Z]/.test(token) || letters(pattern).includes(letters(token))) return true
  const { index = -1, 0: found = '' } = new RegExp(pattern, 'i').exec(header) ?? {}
  const at = header.indexOf(token)
  return (at < index + found.length && at + token.length > index) || letters(found).startsWith(letters(token))
}

test('finds the name of a crawler in real headers, or none', () => {
  const headers = crawlers.flatMap(({ pattern, instances }) => instances.map((header) => ({ pattern, header })))
  const counts = { own: 0, none: 0, other: 0 }
  const others = new Set<string>()
  for (const { pattern, header } of headers) {
    const token = productTokenOf(header)
    if (token === undefined) counts.none++
    else if (isOwnName(token, pattern, header)) counts.own++
    else {
      counts.other++
      others.add(`${token} (${pattern})`)
    }
  }
  expect(counts).toMatchInlineSnapshot(`
    {
      "none": 429,
      "other": 21,
      "own": 1668,
    }
  `)
  expect([...others]).toMatchInlineSnapshot(`
    [
      "Daumoa (Mediapartners-Google)",
      "Python (aiohttp)",
      "2Bone_LinkChecker (libwww-perl)",
      "2Bone_LinkChkr (libwww-perl)",
      "heritrix (archive\\.org_bot)",
      "special_archiver (archive\\.org_bot)",
      "Ruby (Twurly)",
      "Jersey (HttpUrlConnection)",
      "Jigsaw (W3C_CSS_Validator)",
      "venus (fedoraplanet)",
      "Go-http-client (centurybot)",
      "AppEngine-Google (virustotal)",
      "lkxscan (l9explore)",
      "special_archiver (Archive-It)",
      "NetResearchServer (loopimprovements\\.com)",
      "Artemis (CERT PL)",
      "FeedBurner (Specificfeeds)",
      "Monitor (Sucuri)",
    ]
  `)
})

test.each([
  ['Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; ShopBot/1.0)', 'ShopBot'],
  ['Mozilla/5.0 (compatible; U; ShopBot/1.0)', 'ShopBot'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 ShopBot/2',
    'ShopBot',
  ],
  ['Mozilla/5.0 (Windows NT 6.1; rv:38.0) Gecko/20100101 Firefox/38.0 (ShopBot 1.1)', 'ShopBot'],
  ['Mozilla/5.0 (compatible; ShopArchiver/3.2 +https://shop.example/bot)', 'ShopArchiver'],
  ['ShopBot runid=7', 'ShopBot'],
  ['Shop-Fetcher 2.0 (+https://shop.example)', 'Shop-Fetcher'],
  ['curl/8.5.0', 'curl'],
  ['NexusBot/1.0', 'NexusBot'],
  ['Mozilla/5.0 (compatible; WindowsCrawler/1.0)', 'WindowsCrawler'],
  ['My Crawler/1.0', undefined],
  ['Shop Price Fetcher', undefined],
  ['Mozilla/5.0 (compatible; Shop Monitor/2.0; +https://shop.example)', undefined],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36', undefined],
  ['Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2)', undefined],
  ['Chrome/126', undefined],
])('%s: %s', (header, token) => {
  expect(productTokenOf(header)).toBe(token)
})

test.each([
  ['My Crawler/1.0', 'it may be "My" or "My Crawler", and a product token has no blanks'],
  [
    'Mozilla/5.0 (compatible; Shop Monitor/2.0; +https://shop.example)',
    'it may be "Shop" or "Shop Monitor", and a product token has no blanks',
  ],
  ['shop.example/1.0', '"shop.example" has other characters than letters, digits, "-" and "_"'],
  ['(+https://shop.example/bot)', 'it does not begin with a name'],
  ['Mozilla/5.0 (X11) Shop/1.0 Fetch/2.0', 'it may be "Shop" or "Fetch"'],
  ['Chrome/126', '"Chrome" is a word of browsers and systems, not the name of a crawler'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
    '"Mozilla", "X11", "Linux", "x86_64", "AppleWebKit", "KHTML" are words of browsers and systems, not the name of a crawler',
  ],
])('says why %s has no product token', (header, why) => {
  expect(productTokenOf(header)).toBeUndefined()
  expect(explainMissingToken(header)).toContain(`contains no clear product token: ${why}`)
})
