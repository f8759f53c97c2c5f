// HTML and the text that the server returns for it.

import { MIMEType } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { htmlToText } from '../src/html-to-text.ts'
import { decodePage } from '../src/page-body.ts'

const rows: readonly (readonly [string, string])[] = [
  [
    '<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h2>Head</h2>text</body></html>',
    'T\n## Head\ntext',
  ],
  ['one<br>two<p>three\n  four <b>five</b></p> six', 'one\ntwo\nthree four five\nsix'],
  ['<ul><li>a<ul><li>b</ul><li>c</ul>', '- a\n- b\n- c'],
  ['<table><tr><th>k<th>v<tr><td>1<td>2</table>', '| k | v\n| 1 | 2'],
  ['<pre>a\n  b\n</pre><p>c', 'a\n  b\nc'],
  [
    '<a href="/x?a=1&amp;b=2">there</a> and <a href="https://other.example/">here</a>',
    '[there](https://a.example/x?a=1&b=2) and [here](https://other.example/)',
  ],
  ['<a href="#top">top</a><a href="javascript:x()"> js</a><a> none</a><a href="/y"></a>', 'top js none'],
  ['<a href="/x"><h3>block</h3>rest</a>', '### block\nrest (https://a.example/x)'],
  ['<a href="/x"><br>after a line end</a> <b>b</b>', 'after a line end (https://a.example/x) b'],
  ['<p>1</p> <a href="/x"><div><p>deep</p></div><span>rest</span></a>', '1\ndeep\nrest (https://a.example/x)'],
  ['<ul><li><a href="/x"><p></p>item</a></ul>', '-\nitem (https://a.example/x)'],
  ['<img src="a.png" alt="a cat"><img src="b.png" alt="">', '[a cat]'],
  [
    '<script>if (a < b) "</p>"</script><noscript>no</noscript><template>t</template><svg><title>s</title></svg>seen',
    'seen',
  ],
  ['a<!-- b -->c &lt;b&gt; &eacute;', 'ac <b> é'],
  ['</p></svg>stray<a></b>', 'stray'],
  ['', ''],
]

test.each(rows)('%s', (html, text) => {
  expect(htmlToText(html, 'https://a.example/').text).toBe(text)
})

describe('converts hostile pages in a short time', () => {
  test.each([
    ['<div>'.repeat(200_000)],
    ['<div><p>'.repeat(100_000) + '</x></p>'.repeat(100_000)],
    ['<ul><li>'.repeat(100_000)],
    ['<table><tr><td>'.repeat(70_000)],
    ['<a href="'.repeat(100_000)],
    ['<svg>'.repeat(200_000)],
    ['<'.repeat(1_000_000)],
    ['&'.repeat(1_000_000)],
    ['<a href=/x>y</a>'.repeat(60_000)],
    ['<b>y</b> '.repeat(110_000)],
    ['<p> </p>'.repeat(120_000)],
    [`<a ${'x=y '.repeat(250_000)}>`],
  ])('%#', (html) => {
    expect(htmlToText(`<p>begins</p>${html}`, 'https://a.example/').text).toMatch(/^begins/)
  })
})

test('the text of a page with many links and a long URL is cut off', () => {
  const { text, isCut } = htmlToText('<a href=x>y</a>'.repeat(60_000), `https://a.example/${'a'.repeat(7_000)}/`)
  expect(text).toMatch(/^\[y\]/)
  expect(text.length).toBeLessThan(8 * 2 ** 20)
  expect(isCut).toBe(true)
})

test('one chunk of links with a long URL does not exceed the limit of the text by more than one URL', () => {
  const { text } = htmlToText('<a href=x>y</a>'.repeat(4_000), `https://a.example/${'a'.repeat(64_000)}/`)
  expect(text.length).toBeLessThan(4.1 * 2 ** 20)
})

test('further links have no URLs when resolving them would take long', () => {
  const parse = vi.spyOn(URL, 'parse')
  try {
    const { text, isCut, lacksUrls } = htmlToText(
      '<a href=https://b.example/>y</a>'.repeat(30_000),
      `https://a.example/${'a'.repeat(64_000)}`,
    )
    expect(text).toMatch(/^\[y\]\(https:\/\/b\.example\/\).*yyyyy$/)
    expect(parse.mock.calls.length).toBeLessThan(300)
    expect({ isCut, lacksUrls }).toEqual({ isCut: false, lacksUrls: true })
  } finally {
    parse.mockRestore()
  }
})

test('the URL of a link without text is not resolved', () => {
  const parse = vi.spyOn(URL, 'parse')
  try {
    htmlToText('<a href=x></a><a href=x> </a>'.repeat(1_000), 'https://a.example/')
    expect(parse).not.toHaveBeenCalled()
  } finally {
    parse.mockRestore()
  }
})

test.each([
  ['text/html; charset=windows-1252', Buffer.from('<p>caf\u00e9', 'latin1'), 'café'],
  ['text/html', Buffer.from('<meta charset="iso-8859-2"><p>\u00b1', 'latin1'), 'ą'],
  ['text/html', Buffer.from('<meta http-equiv=x content="text/html; charset=koi8-r"><p>\u00c1', 'latin1'), 'а'],
  ['text/html', Buffer.from('<meta charset="UTF-16LE"><p>\u00e9'), 'é'],
  ['text/html', Buffer.from('\ufeff<p>\u00e9', 'utf16le'), 'é'],
  ['text/html; charset=utf-8', Buffer.from('\ufeff<p>\u00e9', 'utf16le').swap16(), 'é'],
  ['text/html; charset=windows-1252', Buffer.from('\ufeff<p>\u00e9'), 'é'],
  ['text/html; charset=nonsense', Buffer.from('<p>é'), 'é'],
  ['text/plain', Buffer.from('\ufeff<p>é'), '<p>é'],
  ['application/json', Buffer.from('{}'), '{}'],
])('decodes the charset of %s', (type, bytes, text) => {
  expect(decodePage(bytes, new MIMEType(type), 'https://a.example/', 'text').text).toBe(text)
})
