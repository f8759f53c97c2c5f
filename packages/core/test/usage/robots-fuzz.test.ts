// Random headers and heads of pages, in the likeness of real ones with mistakes: a million in the
// full run. The heads are compared with parse5, which implements the HTML standard.
import { seededIntegers } from '@politely/testkit/random-robots'
import { deepSampled } from '@politely/testkit/scope'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { describe, expect, test } from 'vitest'
import {
  headReader,
  type PageHead,
  pageHeadOf,
  type RobotsDirectives,
  robotsDirectives,
} from '../../src/usage/index.ts'

const RULES =
  'noindex nofollow none noarchive nocache nosnippet noimageindex notranslate indexifembedded noai noimageai noml all index max-snippet max-image-preview max-video-preview unavailable_after foo'.split(
    ' ',
  )
const FLAGS = RULES.filter((name) => /^no(?!ne|cache)/.test(name)) as (keyof RobotsDirectives)[]
const HEADER_PARTS = [
  ...RULES,
  ...['googlebot', 'ExampleBot', '*', 'robots', '20', '-1', 'large', 'Wed', '31 Dec 2025', '23:59:59', 'GMT', 'PST'],
  ...[':', ': ', ', ', ',', ';', ' ', '=', '"', '“', '(', ')', '@', '?0', '\t', '\\', '/', '\u00e9', '2025-12-31'],
]
const SEPARATORS = [', ', ', ', ', ', ': ', ': ', ';', ' ', '=', '']

const HEAD_PARTS = [
  ...[
    '<!doctype html>',
    '<html>',
    '<head>',
    '</head>',
    '<body>',
    '</body>',
    '</html>',
    '<div>',
    '<p>',
    '</p>',
    '</br>',
  ],
  ...['<title>', '</title>', '<title/>', '</title', '<style>', '</style>', '<noframes>', '</noframes>', '<textarea>'],
  ...['<script>', '</script>', '<script src="a"/>', '</script', '<script', '<xmp>', '</xmp>', '<iframe>', '</iframe>'],
  ...['<!--', '-->', '--!>', '<!-->', '<!--->', '-', '--', '<!', '<!-', '<?a>', '</>', '</ a>'],
  ...['<link rel=a>', '<base>', '<bgsound>', '<basefont>', '<meta charset=utf-8>', '</meta>', '<svg>', '</svg>'],
  ...['<meta name=robots content=noindex>', `<meta name="robots"content='a&#38;b'>`, '<meta name=a name=b content=c>'],
  ...["<meta content='a' name='robots' />", '<META NAME=ROBOTS CONTENT=NONE>', '<meta/name=a/content=b>'],
  ...['<meta name=a content="&#110;&comma;&lt">', '<meta name = "a" content = b>', '<meta', ' name=', ' content='],
  ...[' ', '\n', '\t', 'a', '<', '>', '/', '=', '"', "'", 'robots', '<a'],
  ...['&#32;', '&#x0009;', '&Tab;', '&NewLine;', '&nbsp;', '&#33;', '&#320;', '&tab;', '&'],
]
const TEMPLATE_PARTS = ['<template>', '</template>', '<template><div>a</div></template>']
const NOSCRIPT_PARTS = [
  ...['<noscript>', '</noscript>', '<noscript>', '</noscript>', '<meta name=a content=b>', '<meta name=c content=d>'],
  ...['<img>', '<div>', '</p>', '</br>', 'a', ' ', '&#32;', '<link rel=a>', '<style>a</style>', '<!-- a -->'],
  ...['</head>', '</body>', '</html>', '<html>', '<head>', '<noscript><meta name=e content=f></noscript>'],
]
const CHARACTERS = ['', '<', '>', '"', "'", '-', ' ', '/', '!', '=', 'a', '&', '\0', '\u00e9', '\ud800']

type Random = (below: number) => number

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T
}

function mutated(random: Random, text: string): string {
  if (random(3) > 0) return text
  const at = random(text.length + 1)
  return text.slice(0, at) + pick(random, CHARACTERS) + text.slice(at + random(3))
}

function headerLine(random: Random): string {
  let line = ''
  for (let i = random(8); i >= 0; i--) line += pick(random, HEADER_PARTS) + pick(random, SEPARATORS)
  return mutated(random, line)
}

function joinedParts(random: Random, parts: readonly string[]): string {
  let html = random(2) === 0 ? '<!doctype html><html><head>' : ''
  for (let i = random(14); i >= 0; i--) html += pick(random, parts)
  return html
}

/** Asserts that a result is small and survives JSON. Plain comparisons, since `expect` is slow. */
function assertSound(directives: RobotsDirectives): void {
  const { list, uncertain, problems } = directives
  const isShort = [...list, ...uncertain].every(
    ({ name, value = '', token = '', source }) =>
      name !== '' && name.length <= 200 && value.length <= 200 && token.length <= 200 && source.text.length <= 200,
  )
  if (!isShort || !problems.every(({ source }) => source.text.length <= 200)) throw new Error('too long')
  const { maxSnippet = 0, maxVideoPreview = 0, unavailableAfter = 0 } = directives
  if (![maxSnippet, maxVideoPreview, unavailableAfter].every(Number.isSafeInteger)) throw new Error('not a number')
}

describe('random headers', () => {
  const COUNT = deepSampled(600_000, 1_500)

  test('restrict the more, the more lines they have, and not less if the lines are joined', () => {
    const random = seededIntegers(1)
    for (let i = 0; i < COUNT; i++) {
      const lines = Array.from({ length: 1 + random(3) }, () => headerLine(random))
      const field = random(4) === 0 ? 'robots-tag' : 'x-robots-tag'
      const read = (headers: Record<string, string | string[]>) => robotsDirectives({ headers }, 'ExampleBot')
      const exact = read({ [field]: lines })
      assertSound(exact)
      if (field === 'robots-tag') continue
      const fewer = read({ [field]: lines.slice(1) })
      const joined = read({ [field]: lines.join(', ') })
      assertSound(joined)
      for (const flag of FLAGS) {
        const isLost = (fewer[flag] && !exact[flag]) || (exact[flag] && !joined[flag])
        if (isLost) expect.fail(`${flag} is lost: ${JSON.stringify(lines)}`)
      }
    }
  })
})

describe('random heads', () => {
  const COUNT = deepSampled(200_000, 500)

  test.each([
    ['without templates', HEAD_PARTS],
    ['with templates', [...HEAD_PARTS.filter((part) => !/svg|<textarea|<xmp|<iframe/.test(part)), ...TEMPLATE_PARTS]],
    ['with noscript', NOSCRIPT_PARTS],
  ])('%s have the meta elements that the HTML standard finds, in chunks of any size', (_, parts) => {
    const random = seededIntegers(2)
    for (let i = 0; i < COUNT; i++) {
      const html = parts === NOSCRIPT_PARTS ? joinedParts(random, parts) : mutated(random, joinedParts(random, parts))
      const { uncounted: _, ...whole } = pageHeadOf(html)
      const { uncounted: __, ...chunked } = inChunks(random, html) // what follows the head is read with its chunk
      if (JSON.stringify(chunked) !== JSON.stringify(whole)) expect(chunked, JSON.stringify(html)).toEqual(whole)
      // parse5 drops or replaces some characters that are errors.
      if (!/[\0\ud800]/.test(html)) {
        const found = whole.metas.map(({ name, content }) => `${name}=${content}`).join('|')
        if (found !== metasByParse5(html)) expect(found, JSON.stringify(html)).toBe(metasByParse5(html))
      }
      assertSound(robotsDirectives({ html: whole }, 'a'))
    }
  })
})

function inChunks(random: Random, html: string): PageHead {
  const isText = random(2) === 0
  const bytes = new TextEncoder().encode(html)
  const length = isText ? html.length : bytes.length
  const reader = headReader()
  for (let start = 0, end = 0; start < length; start = end) {
    end = start + 1 + random(12)
    if (reader.write(isText ? html.slice(start, end) : bytes.subarray(start, end))) break
  }
  return reader.end()
}

/**
 * Returns the meta elements in the head that parse5 builds, of a browser that runs scripts or of one
 * that does not.
 */
function metasByParse5(html: string): string {
  const found = new Map<number | undefined, string>()
  const visit = (node: DefaultTreeAdapterTypes.Node) => {
    if (!('childNodes' in node)) return
    for (const child of node.childNodes) {
      if (child.nodeName === 'meta' && 'attrs' in child) {
        const { name, content } = Object.fromEntries(child.attrs.map((one) => [one.name, one.value]))
        const counts = /^[\w-]+$/.test(name?.trim() ?? '') && content !== undefined
        if (counts) found.set(child.sourceCodeLocation?.startOffset, `${name?.trim()}=${content}`)
      }
      visit(child)
    }
  }
  for (const scriptingEnabled of html.includes('noscript') ? [true, false] : [false]) {
    const document = parse(html, { scriptingEnabled, sourceCodeLocationInfo: true })
    for (const element of document.childNodes) {
      if ('childNodes' in element) element.childNodes.filter(({ nodeName }) => nodeName === 'head').forEach(visit)
    }
  }
  return [...found]
    .toSorted(([a = 0], [b = 0]) => a - b)
    .map(([, meta]) => meta)
    .join('|')
}
