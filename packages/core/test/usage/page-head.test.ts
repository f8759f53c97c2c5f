// The reader of the head of a page: which elements count, where a head ends, and what it costs.
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, test } from 'vitest'
import { headReader, MAX_HEAD_BYTES, type PageHead, pageHeadOf } from '../../src/usage/index.ts'

const META = '<meta name=robots content=noindex>'

/** Writes the meta elements of a head as `name=content`. */
function written({ metas }: PageHead): string {
  return metas.map(({ name, content }) => `${name}=${content}`).join(' ')
}

describe('a meta element', () => {
  test.each([
    // [what, html, name=content]
    ['quotes', '<meta name="robots" content="noindex">', 'robots=noindex'],
    ['single quotes', "<meta name='robots' content='noindex'>", 'robots=noindex'],
    ['no quotes', '<meta name=robots content=noindex,nofollow>', 'robots=noindex,nofollow'],
    ['no blank between attributes', `<meta name='robots'content="noindex">`, 'robots=noindex'],
    ['blanks around the equals sign', '<meta name = "robots"\n\tcontent =\fnoindex >', 'robots=noindex'],
    ['a slash between attributes', '<meta/name="robots"/content="noindex"/>', 'robots=noindex'],
    ['a slash in a value without quotes', '<meta name=robots content=noindex/>', 'robots=noindex/'],
    ['upper case', '<META NAME="ROBOTS" CONTENT="NOINDEX">', 'ROBOTS=NOINDEX'],
    ['content before name', '<meta content="noindex" name="robots">', 'robots=noindex'],
    ['other attributes', '<meta data-name=a id name=robots lang="de" content=noindex>', 'robots=noindex'],
    ['a blank around the name', '<meta name=" robots\n" content="noindex">', 'robots=noindex'],
    ['the first of two attributes counts', '<meta name=robots name=a content=noindex content=index>', 'robots=noindex'],
    ['the first counts, also without a value', '<meta name=robots content content=noindex>', 'robots='],
    ['a `>` in quotes', '<meta name=robots content="a>b">', 'robots=a>b'],
    ['a quote in a value without quotes', `<meta name=robots content=no"index>`, 'robots=no"index'],
    ['an equals sign before a name', '<meta =name=robots name=a content=b>', 'a=b'],
    ['a number as a reference', '<meta name=robots content="no&#105;nde&#x78;">', 'robots=noindex'],
    ['references of punctuation', '<meta name=a content="a&comma;b&amp;c&nbsp;d&Tab;">', 'a=a,b&c\u00a0d\t'],
    ['references without a semicolon', '<meta name=a content="a&#44b&lt &ampx &amp=">', 'a=a,b< &ampx &amp='],
    ['unknown references', '<meta name=a content="&foo;&constructor;&">', 'a=&foo;&constructor;&'],
    ['invalid characters as references', '<meta name=a content="&#0;&#xd800;&#x110000;">', 'a=\ufffd\ufffd\ufffd'],
    ['http-equiv', '<meta http-equiv="robots" content="noindex">', ''],
    ['property', '<meta property="robots" content="noindex">', ''],
    ['no content', '<meta name="robots">', ''],
    ['no name', '<meta content="noindex">', ''],
    ['a name that no crawler has', '<meta name="twitter:title" content="a">', ''],
    [
      'TDMRep',
      '<meta name="tdm-reservation" content="1"><meta name=tdm-policy content=/p>',
      'tdm-reservation=1 tdm-policy=/p',
    ],
    ['an unfinished element', '<meta name=robots content=noindex', ''],
  ])('%s: %j', (_, html, expected) => {
    expect(written(pageHeadOf(html))).toBe(expected)
  })
})

describe('a meta element counts', () => {
  test.each([
    // [where, start, end]; the element stands between them
    ['at the start', '', ''],
    ['after a DOCTYPE', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "a">\n', ''],
    ['without html and head', '<title>a</title>', ''],
    ['with html and head', '<!doctype html><html lang=en>\n<head>\n', '</head><body></body></html>'],
    ['after the elements of a head', '<base><link rel=a><script>a</script><style>a</style><noframes>a</noframes>', ''],
    ['after a comment', '<!-- a -->', ''],
    ['after a comment with dashes', '<!----- a --- b ----->', ''],
    ['after an empty comment', '<!---->', ''],
    ['after a short comment', '<!-->', ''],
    ['after a short comment', '<!--->', ''],
    ['after a comment that `--!>` ends', '<!-- a --!>', ''],
    ['after a bogus comment', '<?xml version="1.0"?><!a></ b></>', ''],
    ['after a conditional comment', '<!--[if IE]><body><![endif]--><!--[if !IE]><!--><!--<![endif]-->', ''],
    ['after a script with a comment', '<script><!-- a --></script>', ''],
    ['after a script that writes a script', '<script><!--<script></script>--></script>', ''],
    ['after a script that contains `</scripts>`', '<script></scripts></script >', ''],
    ['after a template', '<template><div>a<template></template></div></template>', ''],
    ['after an svg in a template', '<template><svg><title/></svg></template>', ''],
    ['in noscript', '<noscript>', '</noscript>'],
    ['after noscript with an image', '<noscript><img src="a"></noscript>', ''],
    ['after noscript with an unclosed svg', '<noscript><svg></noscript><script>a</script>', ''],
    ['after noscript with text', '<noscript>a</noscript>', ''],
    ['after noscript with the end tag of a page', '<noscript></html></body></noscript>', ''],
    ['after noscript with an unclosed comment', '<noscript><!--</noscript>', ''],
    ['in noscript after a style', '<noscript><style>a</style>', '</noscript>'],
    [
      'after a svg in a template that another end tag does not close',
      '<template><svg></math><title/></svg></template>',
      '',
    ],
    ['after a template in a svg', '<template><svg><template></svg></template>', ''],
    ['after a style in the title of a svg', '<template><svg><title><style></svg></style></title></svg></template>', ''],
    ['after a blank that is written as a reference', '<title>a</title>&#32;&#x0a;&#9&Tab;&NewLine;&#0013;', ''],
    ['after the end of the head', '<head></head>\n', '<body>'],
    ['after an end tag without a start', '</p></title></template>', ''],
  ])('%s: %s', (_, start, end) => {
    expect(written(pageHeadOf(start + META + end))).toBe('robots=noindex')
  })
})

describe('a meta element does not count', () => {
  test.each([
    // [where, start, end]; the element stands between them
    ['in a comment', '<!-- ', ' -->'],
    ['in an unfinished comment', '<!-- -- >', ''],
    ['in a script', '<script>', '</script>'],
    ['in a script with a slash', '<script src=a />', '</script>'],
    ['in a script with a comment', '<script><!-- <script> </script>', '--></script>'],
    ['in a style', '<style>', '</style>'],
    ['in a title', '<title>', '</title>'],
    ['in a title with a slash', '<title/>', '</title>'],
    ['in noframes', '<noframes>', '</noframes>'],
    ['in a template', '<template>', '</template>'],
    ['in a template inside a template', '<template><template></template>', '</template>'],
    ['in an attribute', '<link title="', '">'],
    ['in the body', '<body>', ''],
    ['in the body, after noscript', '<noscript><body></noscript>', ''],
    ['after another element', '<div></div>', ''],
    ['after an unknown element', '<metadata>', ''],
    ['after text', 'a', ''],
    ['after text', '&nbsp;', ''],
    ['after text', '&#33;', ''],
    ['after text', '&#320;', ''],
    ['after text', '&tab;', ''],
    ['after text', '&', ''],
    ['in noscript, after text', '<noscript>a', '</noscript>'],
    ['in noscript, after an image', '<noscript><img>', '</noscript>'],
    ['in a later noscript, after an image', '<noscript><img></noscript><noscript>', '</noscript>'],
    ['in noscript behind the head', '</head><noscript>', '</noscript>'],
    ['after noscript behind the head', '</head><noscript></noscript>', ''],
    ['in a template of a noscript', '<noscript><template>', '</template></noscript>'],
    ['after a lone `<`', '<', ''],
    ['after the end of the page', '</html>', ''],
    ['after `</br>`', '</br>', ''],
    ['after text behind the head', '</head>a', ''],
  ])('%s: %s', (_, start, end) => {
    expect(written(pageHeadOf(start + META + end))).toBe('')
  })
})

describe('a licence', () => {
  test.each([
    [
      'RSL 1.0, a link',
      '<link rel="license" type="application/rsl+xml" href="https://example.com/l.xml?a=1&amp;b">',
      [{ element: 'link', href: 'https://example.com/l.xml?a=1&b' }],
    ],
    [
      'several relations, any case',
      "<LINK HREF=/l TYPE='Application/RSL+XML; charset=utf-8' REL='a LICENSE'>",
      [{ element: 'link', href: '/l' }],
    ],
    [
      'RSL 1.0, a script',
      '<script type="application/rsl+xml"><rsl></rsl></script>',
      [{ element: 'script', href: undefined }],
    ],
    ['another type', '<link rel="license" href="/cc"><script type=module></script>', []],
    ['another relation', '<link rel="alternate" type="application/rsl+xml" href="/l">', []],
    ['no URL', '<link rel="license" type="application/rsl+xml">', []],
  ])('%s', (_, html, licenses) => {
    expect(pageHeadOf(html).licenses).toEqual(licenses)
  })
})

describe('bytes', () => {
  const html = `<title>é 日本</title>${META}`
  const utf16 = (text: string, isBigEndian: boolean) =>
    Uint8Array.from(
      [...text].flatMap((c) => {
        const unit = c.charCodeAt(0)
        return isBigEndian ? [unit >> 8, unit & 0xff] : [unit & 0xff, unit >> 8]
      }),
    )
  const latin1 = Uint8Array.from([...`<title>\xe9</title><meta name=a content="\xe9">`], (c) => c.charCodeAt(0))

  test.each([
    ['UTF-8', new TextEncoder().encode(html), undefined, 'robots=noindex'],
    ['UTF-8 with a mark', new TextEncoder().encode(`\ufeff${html}`), 'utf-16le', 'robots=noindex'],
    ['UTF-16LE with a mark', utf16(`\ufeff${html}`, false), undefined, 'robots=noindex'],
    ['UTF-16BE with a mark', utf16(`\ufeff${html}`, true), 'utf-8', 'robots=noindex'],
    ['UTF-16LE by name', utf16(html, false), 'UTF-16LE', 'robots=noindex'],
    ['windows-1252 by name', latin1, 'windows-1252', 'a=é'],
    ['invalid UTF-8', latin1, undefined, 'a=\ufffd'],
    ['an unknown encoding', new TextEncoder().encode(html), 'x-foo', 'robots=noindex'],
    ['two bytes', new TextEncoder().encode('<a'), undefined, ''],
    ['none', new Uint8Array(0), undefined, ''],
  ])('%s', (_, bytes, charset, expected) => {
    expect(written(pageHeadOf(bytes, { charset }))).toBe(expected)
    const reader = headReader({ charset })
    for (const byte of bytes) reader.write(Uint8Array.of(byte))
    expect(written(reader.end())).toBe(expected)
  })
})

describe('the reader', () => {
  test('ignores a byte order mark at the start of a text', () => {
    expect(written(pageHeadOf(`\ufeff${META}`))).toBe('robots=noindex')
    expect(written(pageHeadOf(` \ufeff${META}`))).toBe('')
  })

  test('keeps the first base', () => {
    expect(pageHeadOf('<base target=x><base href=" /a/?b&amp;c "><base href=/d/>').base).toBe('/a/?b&c')
    expect(pageHeadOf('<template><base href=/d/></template>').base).toBeUndefined()
  })

  test('says when the head has ended, so that the caller can stop', () => {
    const reader = headReader()
    expect(['<html><head>', META, '</head>', '\n<bo', 'dy>', META].map((chunk) => reader.write(chunk))).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
    ])
    expect(reader.end()).toEqual({
      metas: [{ name: 'robots', content: 'noindex', isCut: false }],
      licenses: [],
      isComplete: true,
    })
    expect(reader.end()).toEqual(reader.end())
  })

  test('reads 1 MiB by default', () => {
    expect(MAX_HEAD_BYTES).toBe(2 ** 20)
    expect(pageHeadOf(`<!--${'a'.repeat(2 ** 20 - 4)}`).isComplete).toBe(true)
    expect(pageHeadOf(`<!--${'a'.repeat(2 ** 20 - 3)}`).isComplete).toBe(false)
  })

  test('stops at the bound, and says so', () => {
    const reader = headReader({ maxBytes: META.length + 7 })
    expect(reader.write(META)).toBe(false)
    expect(reader.write('<title>')).toBe(false)
    expect(reader.write('<')).toBe(true)
    expect(reader.end()).toMatchObject({ isComplete: false, metas: [{ content: 'noindex' }] })
    expect(pageHeadOf(META, { maxBytes: META.length }).isComplete).toBe(true)
    expect(pageHeadOf(META, { maxBytes: META.length - 1 })).toEqual({ metas: [], licenses: [], isComplete: false })
    expect(pageHeadOf(`${META}<p>${META}`, { maxBytes: META.length + 3 }).isComplete).toBe(true)
  })

  test('cuts a long value, and says so', () => {
    const html = `<meta name=a content="${'b'.repeat(8192)}"><meta name=a content="${'b'.repeat(8193)}">`
    expect(pageHeadOf(html).metas.map(({ content, isCut }) => [content.length, isCut])).toEqual([
      [8192, false],
      [8192, true],
    ])
  })

  test('looks for elements that were meant for the head in the chunk in which the head ends', () => {
    const uncounted = [{ reason: 'not-in-head', name: 'robots', content: 'noindex' }]
    expect(pageHeadOf(`<p>${META}`).uncounted).toEqual(uncounted)
    expect(pageHeadOf(`<p>${'a'.repeat(2 ** 16 - META.length)}${META}`).uncounted).toEqual(uncounted)
    expect(pageHeadOf(`<p>${'a'.repeat(2 ** 16 - META.length + 1)}${META}`).uncounted).toBeUndefined()
    expect(pageHeadOf(`<p><!--${META}--><script>${META}</script>&lt;meta >`).uncounted).toBeUndefined()
    expect(pageHeadOf(`<p>${META.repeat(30)}`)).toMatchObject({
      metas: [],
      uncounted: { length: 20 },
      isComplete: true,
    })
    const reader = headReader()
    expect([reader.write('<p>'), reader.write(META)]).toEqual([true, true])
    expect(reader.end().uncounted).toBeUndefined()
  })

  test('keeps at most 500 elements, and says so', () => {
    expect(pageHeadOf(META.repeat(500))).toMatchObject({ metas: { length: 500 }, isComplete: true })
    expect(pageHeadOf(META.repeat(501))).toMatchObject({ metas: { length: 500 }, isComplete: false })
    const script = '<script type=application/rsl+xml></script>'
    expect(pageHeadOf(script.repeat(501))).toMatchObject({ licenses: { length: 500 }, isComplete: false })
  })

  test.each([
    [
      'a promise',
      () => pageHeadOf(Promise.resolve('') as never),
      'html: an object of type Promise is not a part of a page',
    ],
    [
      'no page',
      () => pageHeadOf(undefined as never),
      'html: undefined is not a part of a page; expected a string or a Uint8Array',
    ],
    [
      'a bound of 0',
      () => headReader({ maxBytes: 0 }),
      'maxBytes: 0 is out of range; expected a number of bytes from 1',
    ],
    [
      'an encoding that is no string',
      () => headReader({ charset: 1 as never }),
      'charset: 1 is not an encoding; expected one such as "utf-8"',
    ],
    [
      'an unknown option',
      () => headReader({ maxByte: 1 } as never),
      'maxByte: is an unknown option; did you mean `maxBytes`?',
    ],
  ])('rejects %s', (_, call, message) => {
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION' }))
    expect(call).toThrow(message)
  })
})

describe('the cost of a head of 10 MB', () => {
  const SIZE = 10 * 2 ** 20
  const BOUND = isFullRun ? MAX_HEAD_BYTES : 2 ** 16
  test.each([
    // [what, start, text that is repeated up to the size]
    ['a comment', '<!--', '- '],
    ['a comment of dashes', '<!--', '-'],
    ['a script', '<script>', '</scrip'],
    ['a script with a comment', '<script><!--', '<script'],
    ['a title', '<title>', '</title'],
    ['an attribute value', '<meta content="', 'a&amp;'],
    ['an attribute value without quotes', '<meta content=', 'a'],
    ['the name of an attribute', '<meta ', 'a'],
    ['the name of an element', '<', 'a'],
    ['attributes', '<meta ', 'a=b '],
    ['slashes', '<meta ', '/'],
    ['comments', '', '<!---->'],
    ['templates', '', '<template>'],
    ['elements that do not close', '<template>'.repeat(1000), '<svg></title>'],
    ['references', '', '&#32;'],
    ['a reference', '&#', '0'],
    ['a declaration', '<!', 'a'],
    ['blanks', '', ' '],
    ['elements', '', META],
    ['noscript', '<noscript>', '</noscrip'],
    ['attributes in noscript', '<noscript><meta ', 'a=b '],
  ])(
    '%s: it reads the bound, and takes at most four steps for each byte, and eight in noscript',
    (what, start, text) => {
      const most = what.includes('noscript') ? 8 : 4
      const chunk = text.repeat(2 ** 14 / text.length)
      let reader = headReader({ maxBytes: BOUND })
      reader.write(start)
      let read = 0
      while (read < SIZE && !reader.write(chunk)) read += chunk.length
      expect(read).toBeLessThanOrEqual(BOUND)
      expect(reader.end().isComplete).toBe(false)
      expect(stepsOf(reader)).toBeLessThanOrEqual(most * BOUND)
      // One character in each chunk takes as many steps.
      reader = headReader()
      for (const c of start + chunk) reader.write(c)
      expect(stepsOf(reader)).toBeLessThanOrEqual(most * (start + chunk).length)
    },
  )
})

function stepsOf(reader: unknown): number {
  return (reader as { readonly steps: number }).steps
}
