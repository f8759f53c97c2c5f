// Crawls with one version of a program, and compares the versions in a table.
import { type DialectName, parseRobots } from '@politely/core'
import { randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import type { Check, Copy, Program } from './program.ts'
import { startWeb, tooSoon } from './web.ts'

const FILES = 2_000
const URLS_OF_A_FILE = 10

export interface Column {
  readonly title: string
  readonly rows: Readonly<Record<string, number | string>>
  /** Whether the user got each page of the web. */
  readonly got?: readonly boolean[]
  /** Why this version could not be run. */
  readonly error?: Error
}

/**
 * Crawls the site with one version, and lets it decide generated checks.
 * @param first The column of the program as it is, for the number of changed verdicts.
 */
export async function measure(title: string, program: Program, copy: Copy, first?: Column): Promise<Column> {
  const web = await startWeb(program.host)
  try {
    const results = await program.crawl(copy, web)
    const got = web.pages.map(({ url }) => results.get(url) === 'page')
    const pages = web.pages.map((page, i) => ({ ...page, got: got[i], before: first?.got?.[i] ?? got[i] }))
    const crawled = pages.filter(({ url, isOnSite }) => isOnSite || results.has(url))
    const allowed = crawled.filter(({ isAllowed }) => isAllowed)
    const disallowed = crawled.filter(({ isAllowed }) => !isAllowed)
    const requested = new Set(web.log.map(({ url }) => url))
    const count = (some: typeof pages, test: (page: (typeof pages)[number]) => boolean | undefined) =>
      some.filter(test).length
    return {
      title,
      got,
      rows: {
        [`pages got, of ${allowed.length} that robots.txt allows`]: count(allowed, (page) => page.got),
        'pages lost': count(allowed, (page) => !page.got),
        [`pages requested, of ${disallowed.length} that it disallows`]: count(disallowed, ({ url }) =>
          requested.has(url),
        ),
        'verdicts changed': count(disallowed, (page) => page.got !== page.before),
        'refusals that look like failures': count(disallowed, ({ url }) => results.get(url) === 'failed'),
        ...(program.fetchesPages && { 'requests sooner than the crawl-delay': tooSoon(web) }),
        ...(program.decide && judge(await program.decide(copy, checks()))),
        'lines added, removed': `${copy.added}, ${copy.removed}`,
      },
    }
  } finally {
    await web.close()
  }
}

/** Returns the lines of a table: a row for each figure, and a column for each version. */
export function tableOf(name: string, columns: readonly Column[]): string[] {
  const labels = Object.keys(columns[0]?.rows ?? {})
  const first = Math.max(name.length, ...labels.map((label) => label.length))
  const line = (label: string, cells: readonly (string | number)[]) =>
    [label.padEnd(first), ...cells.map((cell, i) => String(cell).padStart(columns[i]?.title.length ?? 0))].join('  ')
  const titles = columns.map(({ title }) => title)
  const rows = labels.map((label) =>
    line(
      label,
      columns.map(({ rows }) => rows[label] ?? '-'),
    ),
  )
  const errors = columns.flatMap(({ title, error }) => (error === undefined ? [] : [`${title}: ${error.message}`]))
  return [line(name, titles), ...rows, ...errors]
}

/** Generates the same robots.txt files and URLs for all versions. */
function checks(): Check[] {
  const random = seededRandom(9309)
  return Array.from({ length: FILES }, () => {
    const robots = randomRobots(random)
    return Array.from({ length: URLS_OF_A_FILE }, () => ({
      robotsTxt: utf8TextOf(robots),
      url: new URL(`https://example.com${utf8TextOf(randomPath(random, robots))}`).href,
    }))
  }).flat()
}

/** Counts the decisions that contradict the file, both as RFC 9309 and as Google's parser read it. */
function judge(decisions: readonly boolean[]): Column['rows'] {
  const wrong = checks().map(({ robotsTxt, url }, i) => {
    const allows = (dialect: DialectName) => parseRobots(robotsTxt, { dialect }).forCrawler('AnyBot').isAllowed(url)
    return allows('rfc9309') !== decisions[i] && allows('google') !== decisions[i]
  })
  const count = (decision: boolean) => decisions.filter((one, i) => one === decision && wrong[i]).length
  return {
    [`allowed against the file, of ${decisions.length.toLocaleString('en')} generated checks`]: count(true),
    'disallowed against the file': count(false),
  }
}
