// `politely match`: formats of the input and the output, several crawlers and files, and runs that go
// on after an interruption.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const LOG = `203.0.113.7 - - [25/Nov/2026:10:00:00 +0000] "GET /cart/1 HTTP/1.1" 200 512 "-" "ExampleBot/1.0"
shop.example:443 203.0.113.7 - - [25/Nov/2026:10:00:01 +0000] "GET /caf\\xC3\\xA9?q=\\x22a\\x22 HTTP/2.0" 200 512
203.0.113.7 - - [25/Nov/2026:10:00:02 +0000] "-" 408 0 "-" "-"
203.0.113.7 - - [25/Nov/2026:10:00:03 +0000] "POST /cart HTTP/1.1" 302 0 "-" "Mozilla/5.0"
`
const W3C = `#Software: Microsoft Internet Information Services 10.0
#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status
2026-11-25 10:00:00 GET /cart/1 - 200
2026-11-25 10:00:01 GET /search q=1 200
`
const SITEMAP = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://shop.example/cart?a=1&amp;b=&lt;2&gt; </loc><image:image><image:loc>https://cdn.example/i</image:loc></image:image></url>
<url><loc><![CDATA[https://shop.example/a&b]]></loc></url></urlset>`
const path = writeFiles({
  'robots.txt': 'User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /\n',
  'files/shop.example.txt': 'User-agent: *\nDisallow: /cart\n',
  'files/http_shop.example.txt': 'User-agent: *\nDisallow: /\n',
  'files/shop.example_8443.txt': '',
  'access.log': LOG,
  'access.log.1': LOG,
  iis: W3C,
  'map.xml': SITEMAP,
  map: `\ufeff\n${SITEMAP}`,
  lines: '{"url":"/cart"}\n{"url":"/"}\n',
  'index.xml':
    '<?xml version="1.0"?><sitemapindex><sitemap><loc>https://shop.example/1.xml</loc></sitemap></sitemapindex>',
  'page.xml': '<html><title>Log in</title></html>',
  'quote.csv': 'url\n"/cart\n/page\n',
  'long.csv': `${'x'.repeat(1000)}\npage\n`,
  'names.txt': 'one\ntwo\n',
  'names.ndjson': '{"name":"one"}\n{"name":"two"}\n',
  'console.csv': 'Top pages,Clicks\n"https://shop.example/a,b",3\nhttps://shop.example/cart,2\n',
  'export.txt': 'URL,date\nhttps://shop.example/cart,2026-11-01\n',
  hosts: 'shop.example/cart\n# old\n- /a\n',
  nginx: '{"request":"GET /cart HTTP/1.1","status":200}\n',
  array: '[{"url":"/cart"},\n{"url":"/"}]\n',
  feed: '<!-- x --><rss><channel><item><link>https://shop.example/cart</link></item></channel></rss>',
  'iis.log': W3C,
  'crawl.csv': 'Status,Address\n200,"https://shop.example/cart?a=1,2"\n301,\n200,https://shop.example/\n',
  'plain.csv': 'https://shop.example/cart,200\n/,200\n',
  'caddy.ndjson': '{"request":{"uri":"/cart"}}\nnot JSON\n{"request":{}}\n{"request":{"uri":"/"}}\n',
  'urls.txt': Array.from({ length: 100 }, (_, i) => `/${i % 2 === 0 ? 'cart' : 'page'}/${i}\n`).join(''),
})
writeFileSync(path('export-16.txt'), '\ufeffURL\tdate\r\nhttps://shop.example/cart\t1\r\n', 'utf16le')
writeFileSync(path('access.log.gz'), gzipSync(LOG))
writeFileSync(path('access.log.2.gz'), gzipSync(LOG))
writeFileSync(path('map.xml.gz'), gzipSync(SITEMAP))
writeFileSync(path('cut.log.gz'), gzipSync(LOG).subarray(0, 100))

const match = (...args: string[]) => runInThisProcess(['match', '--robots', path('robots.txt'), ...args])
const BOT = ['--user-agent', 'ExampleBot']

test.for([
  [
    'access.log',
    [],
    ['/cart/1', '/caf%C3%A9?q=%22a%22', '/cart'],
    '1 line has no request such as "GET /page HTTP/1.1"',
  ],
  ['access.log.gz', [], ['/cart/1', '/caf%C3%A9?q=%22a%22', '/cart'], 'the first is line 3'],
  ['access.log.1', [], ['/cart/1', '/caf%C3%A9?q=%22a%22', '/cart'], 'the first is line 3'],
  ['access.log.2.gz', [], ['/cart/1', '/caf%C3%A9?q=%22a%22', '/cart'], 'the first is line 3'],
  ['iis', [], ['/cart/1', '/search?q=1'], ''],
  ['map.xml', [], ['https://shop.example/cart?a=1&b=<2>', 'https://shop.example/a&b'], ''],
  ['map.xml.gz', [], ['https://shop.example/cart?a=1&b=<2>', 'https://shop.example/a&b'], ''],
  ['map', [], ['https://shop.example/cart?a=1&b=<2>', 'https://shop.example/a&b'], ''],
  ['lines', [], ['/cart', '/'], ''],
  ['names.txt', [], ['one', 'two'], 'names.txt: no line is a URL or a path; write --input with the format of the file'],
  ['iis.log', [], ['/cart/1', '/search?q=1'], ''],
  ['crawl.csv', [], ['https://shop.example/cart?a=1,2', 'https://shop.example/'], '1 line has no URL in the column'],
  ['crawl.csv', ['--column', 'address'], ['https://shop.example/cart?a=1,2', 'https://shop.example/'], 'line 3'],
  ['plain.csv', [], ['https://shop.example/cart', '/'], ''],
  ['console.csv', [], ['https://shop.example/a,b', 'https://shop.example/cart'], ''],
  ['export.txt', [], ['https://shop.example/cart'], ''],
  ['export-16.txt', [], ['https://shop.example/cart'], ''],
  ['hosts', [], ['shop.example/cart', '/a'], ''],
  ['nginx', [], ['/cart'], ''],
  ['array', [], ['/cart', '/'], ''],
  ['feed', [], ['https://shop.example/cart'], ''],
  ['caddy.ndjson', [], ['/cart', '/'], '2 lines have no URL; the first is line 2'],
  ['caddy.ndjson', ['--column', 'request.uri'], ['/cart', '/'], '2 lines have no text in the field "request.uri"'],
] as const)('reads %s %j', async ([file, flags, urls, message]) => {
  const { stdout, stderr, code } = await match(...BOT, '--urls', path(file), ...flags)
  expect(parseJsonLines(stdout).map(({ url }) => url)).toEqual(urls)
  if (message === '') expect(stderr).toBe('')
  else expect(stderr).toContain(message)
  expect(code).toBe(0)
})

test.for([
  ['urls.txt', ['--input', 'log'], 'have no request such as "GET /page HTTP/1.1"; the first is line 1; write --input'],
  [
    'caddy.ndjson',
    ['--column', 'url'],
    '4 lines have no text in the field "url"; the first is line 1; write --column NAME',
  ],
  ['names.ndjson', [], '2 lines have no URL; the first is line 1; write --column NAME'],
  ['crawl.csv', ['--column', 'link'], 'no column is named "link"; write --column with one of "Status", "Address"'],
  ['index.xml', [], 'index.xml: this is an index of sitemaps; write --sitemap with the URL of the site'],
  ['page.xml', [], 'page.xml: this is no sitemap with URLs; write --input with its format'],
  [
    'quote.csv',
    [],
    'a row has an open quote, or is over 1 MB (CSV_QUOTE_NOT_CLOSED); close the quote, or write --input',
  ],
  ['long.csv', [], `write --column with one of "${'x'.repeat(200)}…"\n`],
  ['cut.log.gz', [], 'is not a whole gzip file (Z_BUF_ERROR)'],
] as const)('says what is wrong with %s %j', async ([file, flags, message]) => {
  const { stderr, code } = await match(...BOT, '--urls', path(file), ...flags)
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('checks each URL for each crawler, as CSV', async () => {
  const args = ['--crawler', 'Googlebot', '--crawler', 'GPTBot', '--format', 'csv', '--urls', path('plain.csv')]
  const { stdout } = await match(...args)
  expect(stdout.split('\r\n')).toEqual([
    'url,crawler,allowed,because,line,rule',
    'https://shop.example/cart,Googlebot,false,rule,2,Disallow: /cart',
    'https://shop.example/cart,GPTBot,false,rule,5,Disallow: /',
    '/,Googlebot,true,no-rule-matched,,',
    '/,GPTBot,false,rule,5,Disallow: /',
    '',
  ])
})

test.for([
  [['--crawler', 'GPTBot'], 'GPTBot'],
  [BOT, 'ExampleBot'],
  [['--product-token', 'a', '--product-token', 'b'], '"a, b"'],
] as const)('names the crawler of %j in CSV', async ([flags, name]) => {
  const { stdout } = await runInThisProcess(['match', '--robots', path('robots.txt'), ...flags, '--format', 'csv'], '/')
  expect(stdout.split('\r\n')[1]).toContain(`/,${name},`)
})

test('reads a sitemap that is one line, from chunks that cut its tags', async () => {
  const urls = Array.from({ length: 5000 }, (_, i) => `https://shop.example/page/${i}/`)
  const sitemap = `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
  const { stdout } = await runInThisProcess(['match', '--robots', path('robots.txt'), ...BOT], sitemap)
  expect(parseJsonLines(stdout).map(({ url }) => url)).toEqual(urls)
})

test('rejects a row of a table that does not end, and keeps no more than 1 MB of it', async () => {
  const args = ['match', '--robots', path('robots.txt'), ...BOT, '--input', 'csv']
  const { stderr, code } = await runInThisProcess(args, `url\n"${'x'.repeat(2 ** 21)}`)
  expect(stderr).toContain('stdin: a row has an open quote, or is over 1 MB (CSV_MAX_RECORD_SIZE)')
  expect(code).toBe(2)
})

test('escapes control characters in CSV', async () => {
  const args = ['match', '--robots', path('robots.txt'), ...BOT, '--format', 'csv']
  const { stdout } = await runInThisProcess(args, '/a\u001b[31m\n/b\u202e\n/caf\u00e9\n')
  expect(stdout.split('\r\n').slice(1, 4)).toEqual([
    '/a\\u{1b}[31m,ExampleBot,true,no-rule-matched,,',
    '/b\\u{202e},ExampleBot,true,no-rule-matched,,',
    '/caf\u00e9,ExampleBot,true,no-rule-matched,,',
  ])
})

test('prints text for people, with the totals on stderr', async () => {
  const { stdout, stderr } = await match(...BOT, '--urls', path('plain.csv'), '--format', 'text')
  expect(stdout).toBe('✗ https://shop.example/cart  line 2: Disallow: /cart\n✓ /  no rule matches\n')
  expect(stderr).toBe('2 URLs: 1 disallowed\n')
})

test('takes the file of each origin from --robots-dir; an origin without a file is not allowed', async () => {
  const urls = [
    'https://shop.example/cart',
    'http://shop.example/',
    'https://shop.example:8443/cart',
    'https://other.example/',
    '/cart',
  ]
  const args = ['match', '--robots-dir', path('files'), ...BOT, '--fail-on', 'disallowed']
  const { stdout, code } = await runInThisProcess(args, urls.join('\n'))
  expect(parseJsonLines(stdout)).toMatchObject([
    { because: 'rule', rule: { line: 2, text: '/cart' } },
    { because: 'rule', rule: { line: 2, text: '/' } },
    { allowed: true, because: 'no-group' },
    { allowed: false, because: 'no-file', file: 'other.example.txt' },
    { allowed: false, because: 'invalid-url', problem: 'relative' },
  ])
  expect(code).toBe(3)
})

test.for([
  [['/cart'], 1],
  [['/page'], 0],
] as const)('--fail-on disallowed: %j exits with %i', async ([urls, code]) => {
  const args = ['match', '--robots', path('robots.txt'), ...BOT, '--fail-on', 'disallowed']
  expect((await runInThisProcess(args, urls.join('\n'))).code).toBe(code)
})

test.for([
  ['ndjson', 2],
  ['csv', 2],
  ['csv', 1],
] as const)('--resume goes on where %s of %i crawlers ends, at any byte', async ([format, crawlers]) => {
  const names = ['Googlebot', 'GPTBot'].slice(0, crawlers).flatMap((name) => ['--crawler', name])
  const run = (file: string, ...more: string[]) =>
    match(...names, '--format', format, '--urls', path('urls.txt'), '--output', path(file), ...more)
  const name = `whole-${crawlers}.${format}`
  await run(name)
  const whole = readFileSync(path(name), 'utf8')
  for (let length = 0; length < whole.length; length += 997) {
    writeFileSync(path('cut'), whole)
    truncateSync(path('cut'), length)
    expect((await run('cut', '--resume')).code).toBe(0)
    expect(readFileSync(path('cut'), 'utf8')).toBe(whole)
  }
  expect((await run('cut', '--resume')).stderr).toBe('')
  expect(readFileSync(path('cut'), 'utf8')).toBe(whole)
})
