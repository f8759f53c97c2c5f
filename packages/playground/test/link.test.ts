// Links of the playground: all states come back, old links open, and broken links say why.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gallery } from '../src/gallery.ts'
import { linkHash, MAX_LINK_LENGTH, openLink } from '../src/link.ts'
import { bounded, MAX_CRAWLERS, MAX_URLS, type PlaygroundState, startState } from '../src/state.ts'

interface OldLink {
  readonly about: string
  readonly hash: string
  readonly state: PlaygroundState
}

const OLD_LINKS: readonly OldLink[] = JSON.parse(readFileSync(new URL('links.json', import.meta.url), 'utf8'))

test.each(OLD_LINKS)('opens an old link for ever: $about', async ({ hash, state }) => {
  const opened = await openLink(hash)
  expect(JSON.parse(JSON.stringify(opened))).toEqual({ state })
})

test('there is an old link of each version', () => {
  expect([...new Set(OLD_LINKS.map(({ hash }) => hash[1]))]).toEqual(['1'])
})

const STATES: readonly (readonly [string, PlaygroundState])[] = [
  ['the start', startState],
  [
    'an earlier file, in another dialect',
    { ...startState, before: 'User-agent: *\n', dialect: 'koster-1996', open: undefined },
  ],
  ['text outside ASCII, with a byte order mark', { ...startState, robots: '\ufeffUser-agent: *\r\nDisallow: /é/🙂\0' }],
  ['what a page says', { ...startState, page: { headers: 'X-Robots-Tag: noindex', html: '' } }],
  [
    'nothing',
    { robots: '', before: undefined, urls: [], crawlers: [], dialect: 'google', page: undefined, open: undefined },
  ],
  ...gallery.map(({ id, state }) => [id, state] as const),
]

test.each(STATES)('a link holds %s', async (_, state) => {
  const hash = await linkHash(state)
  expect(hash).toMatch(/^#1[\w-]+$/)
  expect(hash.length).toBeLessThan(MAX_LINK_LENGTH)
  expect(await openLink(hash)).toEqual({ state })
})

test.each(['', '#'])('an empty hash is no link: %j', async (hash) => {
  expect(await openLink(hash)).toBeUndefined()
})

const whole = await linkHash(startState)

test.each([
  ['of a version that does not exist', '#9abc', 'This link has version "9", which this page does not know.'],
  ['that names an inherited property', '#toString', 'This link has version "t", which this page does not know.'],
  ['whose end is missing', whole.slice(0, -20), 'This link is damaged: a part of it is missing or was changed.'],
  [
    'with a character that was changed',
    whole.replace(/.{9}$/, '!!!!!!!!!'),
    'This link is damaged: a part of it is missing or was changed.',
  ],
  ['without anything', '#1', 'This link is damaged: a part of it is missing or was changed.'],
])('says what is wrong with a link %s', async (_, hash, problem) => {
  expect(await openLink(hash)).toEqual({ problem })
})

test.each([
  ['a number', 1],
  ['null', null],
  ['no URLs', { r: '', c: [] }],
  ['a URL that is not text', { r: '', u: [1], c: [] }],
  ['a page that is not text', { r: '', u: [], c: [], p: [1] }],
  ['an unknown dialect', { r: '', u: [], c: [], d: 'toString' }],
])('rejects a link with %s in place of a state', async (_, json) => {
  expect(await openLink(await hashOf(JSON.stringify(json)))).toEqual({
    problem: 'This link does not hold a state of the playground.',
  })
})

test('rejects a link that inflates to more than a state has', async () => {
  const hash = await hashOf('a'.repeat(5 * 1024 * 1024))
  expect(hash.length).toBeLessThan(MAX_LINK_LENGTH)
  expect(await openLink(hash)).toHaveProperty('problem')
})

test('a link with too many URLs and crawlers holds as many as the page accepts', async () => {
  const many = {
    r: '',
    u: Array.from({ length: MAX_URLS + 1 }, (_, i) => `/${i}`),
    c: Array.from({ length: 99 }, (_, i) => `a${i}`),
    o: [MAX_URLS, 0],
  }
  const opened = await openLink(await hashOf(JSON.stringify(many)))
  expect(opened).toHaveProperty('state.urls.length', MAX_URLS)
  expect(opened).toHaveProperty('state.crawlers.length', MAX_CRAWLERS)
  expect(opened).toHaveProperty('state.open', undefined)
})

describe('a link that asks for much work', () => {
  const crawlers = Array.from({ length: MAX_CRAWLERS }, (_, i) => `a${i}`)
  const urls = Array.from({ length: MAX_URLS }, (_, i) => `/abc/${i}`)
  const rules = (length: number) => `User-agent: *\n${'Disallow: /*a*b*\n'.repeat(length / 17)}`

  test('holds as many URLs as are checked in a moment, and says how many it leaves out', async () => {
    const state = { ...startState, robots: rules(100_000), urls, crawlers, open: { url: 4_000, crawler: 1 } }
    const hash = await linkHash(state)
    expect(hash.length).toBeLessThan(22_000)
    expect(await openLink(hash)).toEqual({
      state: { ...state, urls: urls.slice(0, 12), open: undefined },
      note: 'Of the 5,000 URLs in this link, only the first 12 are checked, because its file is long.',
    })
  })

  test('is not opened if its files alone are too long', async () => {
    const hash = await linkHash({ ...startState, robots: rules(200_000), before: rules(200_000) })
    expect(hash.length).toBeLessThan(MAX_LINK_LENGTH)
    expect(await openLink(hash)).toEqual({
      problem: 'This link holds 400 KB of rules, too much for a link. Ask for the file, and drop it here.',
    })
  })

  test('holds all of a large site', async () => {
    const state = { ...startState, robots: rules(20_000), urls: urls.slice(0, 200), crawlers: crawlers.slice(0, 8) }
    expect(await openLink(await linkHash(state))).toEqual({ state })
  })
})

test('a state within the bounds keeps its lists', () => {
  expect(bounded({ ...startState }).urls).toBe(startState.urls)
  expect(bounded({ ...startState }).crawlers).toBe(startState.crawlers)
})

test('a cell that does not exist is not open', () => {
  expect(bounded({ ...startState, open: { url: 99, crawler: 0 } }).open).toBeUndefined()
})

async function hashOf(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return `#1${Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url')}`
}
