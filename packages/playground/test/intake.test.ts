// What the user pastes or drops.
import { expect, test } from 'vitest'
import { readIntake } from '../src/intake.ts'
import { stateText } from '../src/link.ts'
import { jsonText } from '../src/outputs.ts'
import { MAX_ROBOTS_LENGTH, MAX_URLS, startState } from '../src/state.ts'

const LOG = '192.0.2.1 - - [25/Nov/2026:10:00:00 +0000] "GET /a?x=1 HTTP/1.1" 200 5 "-" "Mozilla"'

test.each([
  [
    'a robots.txt by its name',
    'robots.txt',
    'anything',
    { kind: 'robots', text: 'anything', note: 'Read a robots.txt with 1 line.' },
  ],
  [
    'a robots.txt by its lines',
    '',
    '# shop\nUser-agent: *\nDisallow: /\n',
    { kind: 'robots', note: 'Read a robots.txt with 4 lines.' },
  ],
  ['an empty robots.txt', 'robots.txt', '', { kind: 'robots', text: '', note: 'Read robots.txt, which is empty.' }],
  ['another empty file', 'urls.txt', '', { kind: 'nothing', note: 'urls.txt is empty.' }],
  [
    'an image',
    'robots.png',
    '\ufffdPNG\r\n\0\0',
    { kind: 'nothing', note: 'robots.png is not a text file, so nothing was read.' },
  ],
  ['a page in place of a robots.txt', '', '<!doctype html>\n<title>Shop</title>', { kind: 'robots' }],
  [
    'a robots.txt that is not UTF-8',
    '',
    'User-agent: *\nDisallow: /\ufffd',
    { kind: 'robots', note: 'Read a robots.txt with 2 lines; it has bytes that are not UTF-8, shown as \ufffd.' },
  ],
  [
    'a list',
    'urls.txt',
    '# pages\nhttps://a.example/\n\n/b\n/b\nwww.a.example\n',
    {
      kind: 'urls',
      urls: ['https://a.example/', '/b'],
      note: 'Read 2 URLs of a list. Skipped: 1 line without a URL or a path, 1 repetition.',
    },
  ],
  [
    'a sitemap',
    'sitemap.xml',
    '<?xml version="1.0"?><urlset xmlns="x"><url><loc> https://a.example/?a=1&amp;b=%20&#38;&#x26; </loc><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url><url><loc><![CDATA[https://a.example/b]]></loc></url><url><loc/><loc></loc></url></urlset>',
    {
      kind: 'urls',
      urls: ['https://a.example/?a=1&b=%20&&', 'https://a.example/b'],
      note: 'Read 2 pages of a sitemap. Skipped: 1 entry without a URL.',
    },
  ],
  [
    'an index of sitemaps',
    '',
    '<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>',
    { kind: 'nothing' },
  ],
  [
    'an access log',
    'access.log',
    `${LOG}\n${LOG.replace('/a?x=1', '/b')}\nnonsense\n${LOG.replace('/a?x=1', '/b')}`,
    {
      kind: 'urls',
      urls: ['/b', '/a?x=1'],
      note: 'Read 2 URLs of an access log with 3 requests, the most frequent first. Skipped: 1 line without a request.',
    },
  ],
  [
    'a table of a search console',
    '',
    'URL,date\nhttps://a.example/cart,2026-11-01\nhttps://a.example/b,2026-11-02\n',
    {
      kind: 'urls',
      from: 'table',
      urls: ['https://a.example/cart', 'https://a.example/b'],
      note: 'Read 2 URLs of a table.',
    },
  ],
  [
    'a table with quotes and a total',
    'Pages.csv',
    '\ufeff"Top pages","Clicks"\r\n"https://a.example/x,y","1,200"\r\n"Total","1,200"\r\n',
    {
      kind: 'urls',
      urls: ['https://a.example/x,y'],
      note: 'Read 1 URL of a table. Skipped: 1 row without a URL or a path.',
    },
  ],
  [
    'a log in JSON',
    '',
    '{"request":{"uri":"/a","host":"a.example"}}\n{"request":{"uri":"/b"}}\n{"request":{"uri":"/b"}}\n{"x":1}\n',
    {
      kind: 'urls',
      from: 'json',
      urls: ['/b', '/a'],
      note: 'Read 2 URLs of JSON. Skipped: 1 item without a URL or a path, 1 repetition.',
    },
  ],
  [
    'a feed',
    '',
    '<?xml version="1.0"?><rss version="2.0"><channel><link>https://a.example/</link><item><link>https://a.example/1</link></item></channel></rss>',
    { kind: 'urls', urls: ['https://a.example/1'], note: 'Read 1 page of a sitemap.' },
  ],
  [
    'a sitemap after a comment',
    '',
    '\n<!-- made by x -->\n<urlset><url><loc>https://a.example/1</loc></url></urlset>',
    { kind: 'urls', urls: ['https://a.example/1'] },
  ],
  [
    'a sitemap after a declaration',
    '',
    '\ufeff<!DOCTYPE urlset><s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>https://a.example/1</s:loc></s:url></s:urlset>',
    { kind: 'urls', urls: ['https://a.example/1'] },
  ],
  [
    'other XML',
    '',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    { kind: 'nothing', note: 'This is XML, but neither a sitemap nor a feed, so no URLs were read.' },
  ],
  [
    'URLs without schemes, as the command reads them',
    '',
    'shop.example/cart\n- /b\n',
    {
      kind: 'urls',
      urls: ['shop.example/cart', '/b'],
      note: 'Read 2 URLs of a list. Some have no scheme: write them whole, such as https://shop.example/cart.',
    },
  ],
  [
    'a table without URLs',
    'x.csv',
    'id,name\n1,2\n',
    { kind: 'nothing', note: 'Found no URLs in a table. It could not be read further: no column has URLs.' },
  ],
  [
    'text without anything',
    '',
    'hello\nworld',
    { kind: 'nothing', note: 'Found no URLs in a list. Skipped: 2 lines without a URL or a path.' },
  ],
] as const)('reads %s', (_, name, text, expected) => {
  expect(readIntake(text, name)).toMatchObject(expected)
})

test('opens a file that the playground wrote', () => {
  expect(readIntake(stateText(startState), 'playground.json')).toMatchObject({ kind: 'state', state: startState })
  expect(readIntake(jsonText(startState), 'verdicts.json')).toMatchObject({ kind: 'urls', urls: startState.urls })
})

test('says what it leaves out', () => {
  const list = Array.from({ length: MAX_URLS + 2 }, (_, i) => `/${i}`)
  expect(readIntake([...list, `/${'x'.repeat(3000)}`].join('\n'), 'urls.txt')).toMatchObject({
    urls: list.slice(0, MAX_URLS),
    note: 'Read 5,000 URLs of a list. Skipped: 1 URL over 2,000 characters, 2 URLs after the first 5,000.',
  })
  const robots = readIntake(`User-agent: *\n${'#'.repeat(MAX_ROBOTS_LENGTH)}`, '')
  expect(robots).toMatchObject({
    note: 'Read a robots.txt with 2 lines; only its first 500 KiB were taken, as crawlers do.',
  })
})
