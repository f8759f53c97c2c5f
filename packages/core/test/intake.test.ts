// Lists of URLs in the formats in which users have them: for the command and the playground.
import { expect, test } from 'vitest'
import { formatOfName, formatOfText, lacksScheme, urlReaderFor } from '../src/review/index.ts'

/** Reads a text as a file of this name, its lines in chunks of every size. */
function read(text: string, name = '', column?: string) {
  const format = formatOfName(name) ?? formatOfText(text)
  if (format === 'sitemap') return { format, urls: [], skipped: 0, firstSkipped: 0, problem: undefined }
  const lines = text.split(/\r\n|\n/).filter((line) => line.trim() !== '')
  const results = [1, 2, lines.length].map((size) => {
    const reader = urlReaderFor(format, column)
    const urls: string[] = []
    for (let at = 0; at < lines.length; at += size) urls.push(...reader.write(lines.slice(at, at + size)))
    urls.push(...reader.end())
    const { skipped, firstSkipped, problem } = reader
    return { format, urls, skipped, firstSkipped, problem }
  })
  for (const result of results) expect(result).toEqual(results[0])
  return results[0]
}

const A = 'https://a.example/cart'
const B = 'https://a.example/b?x=1,2'

test.for([
  ['a list', `${A}\n/b\n\n# comment\n`, 'text', [A, '/b']],
  ['a list of URLs with commas', `${B}\n/a,b;c\n`, 'text', [B, '/a,b;c']],
  [
    'a list of hosts with paths',
    'a.example/cart\nwww.a.example:8443/b\nbücher.example/é\npage.html\nimg/a.png\n',
    'text',
    ['a.example/cart', 'www.a.example:8443/b', 'bücher.example/é', 'page.html', 'img/a.png'],
  ],
  [
    'bullets, quotes, Markdown and counts',
    `- ${A}\n* /b\n1. /c\n   12 /d\n<${B}>\n[Cart](${A} "x")\n'/e',\n`,
    'text',
    [A, '/b', '/c', '/d', B, A, '/e'],
  ],
  ['a table of a search console', `URL,date\n${A},2026-11-01\n"${B}",2026-11-02\n`, 'csv', [A, B]],
  ['top pages', `Top pages,Clicks,Impressions,CTR,Position\n${A},20,400,5%,3.4\n`, 'csv', [A]],
  ['names in another language', `Die häufigsten Seiten,Klicks\n${A},20\n`, 'csv', [A]],
  ['a table with semicolons', `Page;Sessions\n/a,b;3\n/c;4\n`, 'csv', ['/a,b', '/c']],
  ['a table with tabs, without names', `${A}\t200\n/b\t404\n`, 'csv', [A, '/b']],
  ['a table that says its separator', `sep=;\nid;url\n1;${A}\n`, 'csv', [A]],
  ['quoted cells without names', `"${A}","200"\n"${B}","404"\n`, 'csv', [A, B]],
  ['a quoted cell with a line end and quotes', `url,title\n${A},"a ""b"",\nc"\n/b,x\n`, 'csv', [A, '/b']],
  ['a quote inside of a cell', `url,size\n/b,5" disk\n/c,1\n`, 'csv', ['/b', '/c']],
  ['a table with comments before it', `# Pages\n# 1-30 November\nPage path,Views\n/cart,3\n`, 'csv', ['/cart']],
  ['one column with a name', `url\n${B}\n`, 'csv', [B]],
  ['hosts in a table', `page,views\na.example/cart,1\n`, 'csv', ['a.example/cart']],
  [
    'an access log',
    `1.2.3.4 - - [25/Nov/2026:10:00:00 +0000] "GET /cart?a HTTP/1.1" 200 5 "-" "x"\n`,
    'log',
    ['/cart?a'],
  ],
  [
    'a log of a CDN',
    '#Version: 1.0\n#Fields: date cs-uri-stem cs-uri-query\n2026-11-25 /cart a=1\n',
    'log',
    ['/cart?a=1'],
  ],
  ['JSON lines', `{"url":"${A}"}\n{"url":"/b"}\n`, 'ndjson', [A, '/b']],
  [
    'a log of nginx in JSON',
    '{"time":"x","request":"GET /cart HTTP/1.1","referer":"https://x.example/"}\n',
    'ndjson',
    ['/cart'],
  ],
  ['another log of nginx', '{"host":"a.example","request_uri":"/cart?a=1","status":200}\n', 'ndjson', ['/cart?a=1']],
  [
    'a log of Caddy',
    '{"request":{"method":"GET","host":"a.example","uri":"/cart"},"status":200}\n',
    'ndjson',
    ['/cart'],
  ],
  [
    'a log of Cloudflare',
    '{"ClientRequestHost":"a.example","ClientRequestURI":"/cart?a","RayID":"1"}\n',
    'ndjson',
    ['/cart?a'],
  ],
  ['a log of Google Cloud', `[\n  {\n    "httpRequest": {\n      "requestUrl": "${A}"\n    }\n  }\n]\n`, 'ndjson', [A]],
  [
    'a log of Docker',
    '{"log":"1.2.3.4 - - [x] \\"GET /cart HTTP/1.1\\" 200\\n","stream":"stdout"}\n',
    'ndjson',
    ['/cart'],
  ],
  [
    'a log of Filebeat',
    '{"message":"\\"GET /cart HTTP/1.1\\" 200","log":{"file":{"path":"/var/log/access.log"}}}\n',
    'ndjson',
    ['/cart'],
  ],
  ['a log of Elastic', `{"url":{"full":"${A}","path":"/cart"}}\n`, 'ndjson', [A]],
  ['a log of pino', '{"level":30,"req":{"method":"GET","url":"/cart"}}\n', 'ndjson', ['/cart']],
  ['a list in JSON', `["${A}",\n"/b"]`, 'ndjson', [A, '/b']],
  ['a HAR file', `{"log":{"pages":[{"id":"1"}],"entries":[{"request":{"url":"${A}"}}]}}`, 'ndjson', [A]],
  ['a document with a list', `{\n"total": 1,\n"urls": ["${A}"]\n}`, 'ndjson', [A]],
  ['a sitemap after a comment', '\ufeff <!-- made by x -->\n<urlset><url><loc>/</loc></url></urlset>', 'sitemap', []],
  ['RSS', '<rss version="2.0"><channel/></rss>', 'sitemap', []],
] as const)('reads %s', ([, text, format, urls]) => {
  const result = read(text)
  expect(result).toMatchObject({ format, urls, problem: undefined, skipped: 0 })
})

test.for([
  ['takes the column of the caller', 'from,to\n/a,/b\n', 't.csv', 'To', ['/b']],
  ['takes the field of the caller', '{"url":"/a","next":{"url":"/b"}}\n', '', 'next.url', ['/b']],
  ['prefers url to other names', 'page,url\nCart,/cart\n', '', undefined, ['/cart']],
  ['returns what the column has', 'url\none\n', '', undefined, ['one']],
] as const)('%s', ([, text, name, column, urls]) => {
  expect(read(text, name, column)).toMatchObject({ urls, problem: undefined })
})

test.for([
  ['a quote without an end', 'url\n"/a\n/b\n', { kind: 'open-quote' }],
  ['a row over 1 MB', `url\n"${`${'x'.repeat(2 ** 17)}\n`.repeat(9)}`, { kind: 'long-row' }],
  ['no URLs', 'id,name\n1,2\n', { kind: 'no-column', columns: ['id', 'name'] }],
  ['only names', 'id,name\n', { kind: 'no-column', columns: ['id', 'name'] }],
] as const)('says why it cannot read a table with %s', ([, text, problem]) => {
  expect(read(text, 'table.csv')).toMatchObject({ urls: [], problem })
})

test('counts what has no URL', () => {
  expect(read('url,status\n/a,200\n,301\n,404\n')).toMatchObject({ urls: ['/a'], skipped: 2, firstSkipped: 3 })
  expect(read('{"url":"/a"}\nnot JSON\n{"x":1}\n')).toMatchObject({ urls: ['/a'], skipped: 2, firstSkipped: 2 })
})

test('recognises a URL without its scheme', () => {
  const texts = ['a.example/b', 'localhost:3000/b', 'page.html', 'a/b.c/d', 'a.example', '1.2/3', '/a.example/b']
  expect(texts.filter(lacksScheme)).toEqual(['a.example/b', 'localhost:3000/b'])
})
