// The catalogue of known crawlers: its data, and how they read robots.txt.
import { expectPage } from '@politely/testkit/doc-page'
import { describe, expect, it } from 'vitest'
import {
  findCrawler,
  isCrawlerName,
  type KnownCrawler,
  knownCrawlers,
  knownCrawlersDate,
  readingOf,
  rulesFor,
} from '../src/crawlers/index.ts'
import { type DialectName, describeReason, dialects, isProductToken, lintRobots, parseRobots } from '../src/index.ts'

const tokens = new Set(knownCrawlers.map(({ token }) => token.toLowerCase()))
const DATE = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

describe('the data', () => {
  it('has each token and each name once', () => {
    expect(tokens.size).toBe(knownCrawlers.length)
    expect(new Set(knownCrawlers.map(({ name }) => name.toLowerCase())).size).toBe(knownCrawlers.length)
  })

  it.each(knownCrawlers)('of $name is complete', (crawler) => {
    const { token, name, fallbacks, readsStar, isControl, obeys, retired, source, readOn } = crawler
    expect(isProductToken(token)).toBe(true)
    // RFC 9309 compares the part before the first character that a token does not have.
    expect(/^[A-Za-z0-9_-]*/.exec(name)?.[0]).toBe(token)
    expect(fallbacks.every((fallback) => isProductToken(fallback) && fallback !== token)).toBe(true)
    expect(new URL(source)).toMatchObject({ protocol: 'https:', username: '', hash: '' })
    if (readOn !== undefined) expect(readOn).toMatch(DATE)
    if (readOn !== undefined) expect(readOn <= knownCrawlersDate).toBe(true)
    // What differs from other crawlers must have been read somewhere.
    if (obeys !== 'unclear' || !readsStar || fallbacks.length > 0) expect(readOn).toBeDefined()
    for (const other of retired?.replacedBy ?? []) expect(findCrawler(other)).toMatchObject({ retired: undefined })
    if (retired?.since !== undefined) expect(retired.since).toMatch(/^(?:19|20)\d\d$/)
    if (isControl) expect(retired).toBeUndefined()
  })

  it('has no fallback of a fallback, which the crawler would not read', () => {
    for (const { name, fallbacks } of knownCrawlers)
      for (const fallback of fallbacks) expect(findCrawler(fallback)?.fallbacks ?? [], name).toEqual([])
  })

  it('has a date', () => expect(knownCrawlersDate).toMatch(DATE))
})

describe('findCrawler', () => {
  it('ignores the case, and finds a crawler by token and by name', () => {
    expect(findCrawler('gptbot')).toMatchObject({ token: 'GPTBot', operator: 'OpenAI', purpose: 'ai-training' })
    expect(findCrawler('archive.org_bot')).toBe(findCrawler('archive'))
    expect(findCrawler('ExampleBot')).toBeUndefined()
    expect(findCrawler('constructor')).toBeUndefined()
  })
})

describe('isCrawlerName', () => {
  it.each(knownCrawlers)('accepts the name and the token of $name', ({ name, token }) => {
    expect([isCrawlerName(name), isCrawlerName(token.toLowerCase())]).toEqual([true, true])
  })

  it.each(['*', 'ExampleBot', 'a1'])('accepts %s', (name) => {
    expect(isCrawlerName(name)).toBe(true)
  })

  it.each([
    '',
    'ExampleBot/1.0',
    'Example Bot',
    'a, b',
    'Mozilla/5.0 (compatible; a)',
    '*bot',
    'Google.bot',
    'bot*',
    '\u00e9',
  ])('rejects %j', (name) => {
    expect(isCrawlerName(name)).toBe(false)
  })
})

describe('a name that no product token can have', () => {
  const names = knownCrawlers.filter(({ name, token }) => name !== token)

  it.each(names)('$name reads the group with its name, in every dialect', ({ name, token }) => {
    const file = `User-agent: ${name}\nDisallow: /a\n`
    for (const dialect of Object.keys(dialects) as DialectName[]) {
      const robots = parseRobots(file, { dialect })
      for (const given of [name, name.toLowerCase(), token])
        expect(rulesFor(robots, given).isAllowed('/a'), `${given}, ${dialect}`).toBe(false)
      expect(rulesFor(robots, 'OtherBot').isAllowed('/a')).toBe(true)
    }
  })

  it('is no finding of the linter', () => {
    for (const { name, token } of knownCrawlers) {
      for (const given of [name, token, name.toUpperCase()])
        expect(lintRobots(`User-agent: ${given}\nDisallow: /a\n`), `add ${given} to lint/name.ts`).toEqual([])
    }
  })

  it('is also compared if the catalogue does not have it', () => {
    const file = 'User-agent: example.com_bot\nDisallow: /a\n'
    for (const dialect of ['rfc9309', 'google', 'koster-1996'] as const)
      expect(rulesFor(parseRobots(file, { dialect }), 'example.com_bot').isAllowed('/a')).toBe(false)
  })
})

describe('rulesFor', () => {
  const robots = parseRobots('User-agent: Googlebot\nDisallow: /drafts/\n\nUser-agent: *\nDisallow: /\n')

  it('reads the groups of the fallbacks in order, and then the groups for *', () => {
    expect(rulesFor(robots, 'Googlebot-News').isAllowed('/drafts/1')).toBe(false)
    expect(rulesFor(robots, 'Googlebot-News').isAllowed('/news/1')).toBe(true)
    const own = parseRobots(`User-agent: Googlebot-News\nDisallow: /old/\n\n${robots.text}`)
    expect(rulesFor(own, 'googlebot-news').isAllowed('/drafts/1')).toBe(true)
    expect(rulesFor(own, 'Googlebot-News').isAllowed('/old/1')).toBe(false)
    expect(rulesFor(parseRobots('User-agent: *\nDisallow: /\n'), 'Googlebot-News').isAllowed('/')).toBe(false)
  })

  it('uses the first of the groups also in the dialect google, which merges the groups of names that it is given', () => {
    const file = `User-agent: Googlebot-News\nDisallow: /old/\n\n${robots.text}`
    expect(rulesFor(parseRobots(file, { dialect: 'google' }), 'Googlebot-News').isAllowed('/drafts/1')).toBe(true)
  })

  it('does not read the groups for * for crawlers that ignore them', () => {
    const rules = rulesFor(robots, 'AdsBot-Google')
    expect(rules.isAllowed('/news/1')).toBe(true)
    expect(describeReason(rules.check('/news/1'))).toBe(
      'robots.txt has no group for AdsBot-Google, which does not read the group for *',
    )
    const named = parseRobots('User-agent: *\nUser-agent: AdsBot-Google\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n')
    expect(rulesFor(named, 'AdsBot-Google').isAllowed('/a')).toBe(false)
    expect(rulesFor(named, 'AdsBot-Google').isAllowed('/b')).toBe(true)
  })

  it('ignores the records of the groups for * as well', () => {
    const slow = parseRobots('User-agent: *\nCrawl-delay: 10\n')
    expect(rulesFor(slow, 'AdsBot-Google').crawlDelayMs).toBeUndefined()
    expect(rulesFor(slow, 'Googlebot').crawlDelayMs).toBe(10_000)
  })

  it('uses several tokens as they are', () => {
    const given = ['Googlebot-News', 'OtherBot']
    expect(rulesFor(robots, given).toJSON()).toEqual(robots.forCrawler(given).toJSON())
    expect(rulesFor(robots, ['Googlebot-News']).productTokens).toEqual(['Googlebot-News', 'Googlebot'])
  })

  it('treats a crawler that is not in the catalogue as parseRobots does', () => {
    expect(rulesFor(robots, 'ExampleBot').toJSON()).toEqual(robots.forCrawler('ExampleBot').toJSON())
    expect(readingOf('ExampleBot', dialects.google)).toEqual({
      productTokens: ['ExampleBot'],
      dialect: dialects.google,
      crawler: undefined,
    })
  })

  it('keeps the origin and the bytes of the file', () => {
    const bytes = new Uint8Array([...Buffer.from('User-agent: AdsBot-Google\nDisallow: /'), 0xff, 0x0a])
    const file = parseRobots(bytes, { origin: 'https://example.com' })
    const rules = rulesFor(file, 'AdsBot-Google')
    expect(rules.isAllowed('https://example.com/%FF')).toBe(false)
    expect(rules.check('https://other.example/').because).toBe('other-origin')
  })
})

const PURPOSES: readonly (readonly [KnownCrawler['purpose'], string])[] = [
  ['search', 'Search engines'],
  ['ai-training', 'AI training, and datasets that are often used for it'],
  ['ai-search', 'Indexes of AI products'],
  ['ai-assistant', 'AI assistants: a user started the request'],
  ['ai-agent', 'AI agents that do tasks for a user'],
  ['preview', 'Previews of shared pages, and feeds'],
  ['seo', 'SEO tools'],
  ['archive', 'Archives'],
  ['monitoring', 'Monitoring, and checks for the owner of a site'],
  ['advertising', 'Advertising'],
  ['scraper', 'Data for customers'],
  ['other', 'Others'],
]

function row({ name, token, operator, fallbacks, readsStar, isControl, obeys, retired, source, readOn }: KnownCrawler) {
  const notes = [
    ...(name === token ? [] : [`compared as \`${token}\``]),
    ...(fallbacks.length === 0 ? [] : [`without its own group, it reads the group for ${fallbacks.join(', ')}`]),
    ...(readsStar ? [] : ['does not read the groups for `*`']),
    ...(isControl ? ['sends no requests'] : []),
    ...(retired === undefined ? [] : [retirement(retired)]),
  ].join('; ')
  const read = readOn === undefined ? 'not read' : readOn
  return `| ${name} | ${operator} | ${obeys} | ${notes} | [${new URL(source).hostname}](${source}), ${read} |`
}

function retirement({ since, replacedBy }: NonNullable<KnownCrawler['retired']>) {
  const names = replacedBy.length === 0 ? '' : `; in its place: ${replacedBy.join(', ')}`
  return `retired${since === undefined ? '' : ` since ${since}`}${names}`
}

it('docs/reference/known-crawlers.md', { tags: 'page' }, async () => {
  expect(new Set(PURPOSES.map(([purpose]) => purpose))).toEqual(new Set(knownCrawlers.map(({ purpose }) => purpose)))
  const sections = PURPOSES.map(([purpose, title]) => {
    const crawlers = knownCrawlers.filter((crawler) => crawler.purpose === purpose)
    const rows = crawlers.toSorted((a, b) => a.name.localeCompare(b.name, 'en')).map(row)
    return `## ${title}

\`${purpose}\`: ${crawlers.length}

| crawler | operator | obeys robots.txt | notes | source, and when it was read |
|---|---|---|---|---|
${rows.join('\n')}`
  })
  await expectPage(
    'docs/reference/known-crawlers.md',
    `# Known crawlers

The ${knownCrawlers.length} crawlers of \`knownCrawlers\` in \`@politely/core/crawlers\`, as of ${knownCrawlersDate}. \`politely audit\` compares a
robots.txt with them. The other commands use them too, if you give a crawler by its name.

- "Obeys" is what the operator documents. \`no\`: it says that the crawler ignores robots.txt, or may do so. \`unclear\`: it doesn't say, or we
  couldn't read its page.
- The date says when we read a copy of the operator's page, or another page that quotes it. The copy may be older.

## How it is kept current

- Before a release, a maintainer compares the catalogue with the operators' pages, and with public lists such as
  [ai.robots.txt](https://github.com/ai-robots-txt/ai.robots.txt), which name new crawlers. \`npm run next-version\` refuses a release if that
  was more than 92 days ago.
- An installed version keeps its catalogue. \`politely audit\` prints its date, and warns when it's half a year old.
- Is a crawler missing, or did an operator change its page? It takes [one row with its source](../../CONTRIBUTING.md#adding-tests).

${sections.join('\n\n')}
`,
  )
})
