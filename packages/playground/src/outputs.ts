// What the playground gives away: a command, a file of expectations, a test and JSON, each with the
// verdicts of the matrix.
import { describeReason } from '@politely/core'
import { isCrawlerName } from '@politely/core/crawlers'
import { withoutCredentials } from '@politely/core/internal'
import { matrixOf } from './matrix.ts'
import type { PlaygroundState } from './state.ts'

/** A command line of `politely`. */
export interface Command {
  readonly args: readonly string[]
  /** What the command reads from stdin; undefined if it reads nothing. */
  readonly stdin: string | undefined
  /** The names of files that the command reads, and which text of the state they hold. */
  readonly files: Readonly<Record<string, string>>
}

const ROBOTS_FILE = 'robots.txt'
const BEFORE_FILE = 'robots.before.txt'

/** The crawlers that a command line and a file of expectations can name. */
function namable(crawlers: readonly string[]): readonly string[] {
  return crawlers.filter(isCrawlerName)
}

function dialectArgs({ dialect }: PlaygroundState): readonly string[] {
  return dialect === 'rfc9309' ? [] : ['--dialect', dialect]
}

/** The verdicts of the matrix; with an earlier file, what changes. */
export function matrixCommand(state: PlaygroundState): Command {
  const crawlers = namable(state.crawlers).flatMap((crawler) => ['--crawler', crawler])
  const stdin = state.urls.map((url) => `${url}\n`).join('')
  const files = { [ROBOTS_FILE]: state.robots }
  if (state.before === undefined) {
    const args = [
      'match',
      '--robots',
      ROBOTS_FILE,
      ...crawlers,
      ...dialectArgs(state),
      '--input',
      'text',
      '--format',
      'text',
    ]
    return { args, stdin, files }
  }
  const args = ['diff', BEFORE_FILE, ROBOTS_FILE, '--urls', '-', '--input', 'text', ...crawlers, ...dialectArgs(state)]
  return { args, stdin, files: { ...files, [BEFORE_FILE]: state.before } }
}

/** The explanation of the open cell; undefined if no cell is open, or it cannot be given. */
export function cellCommand(state: PlaygroundState): Command | undefined {
  const url = state.urls[state.open?.url ?? -1]
  const crawler = state.crawlers[state.open?.crawler ?? -1]
  if (url === undefined || crawler === undefined || url.startsWith('-')) return undefined
  // No group names this crawler, so the groups for * apply.
  const token = crawler === '*' ? 'UnnamedBot' : crawler
  if (!isCrawlerName(token)) return undefined
  const args = ['explain', url, '--robots', ROBOTS_FILE, '--product-token', token, ...dialectArgs(state)]
  return { args, stdin: undefined, files: { [ROBOTS_FILE]: state.robots } }
}

/** Returns the command as a user writes it in a shell. */
export function shellText({ args, stdin }: Command): string {
  const line = ['npx politely', ...args.map(quotedForShell)].join(' ')
  if (stdin === undefined) return `${line}\n`
  let end = 'END'
  while (stdin.split('\n').includes(end)) end += '_'
  return `${line} <<'${end}'\n${stdin}${end}\n`
}

function quotedForShell(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`
}

/** Returns a file for `politely test`. */
export function expectationsText(state: PlaygroundState): string {
  const matrix = matrixOf(state)
  const crawlers = namable(state.crawlers)
  const dialect = dialectArgs(state).map((arg) => ` ${arg}`)
  const lines = [`# npx politely test robots.expect --robots robots.txt${dialect.join('')}`]
  let skipped = 0
  for (const crawler of crawlers) {
    const column = state.crawlers.indexOf(crawler)
    for (const kind of ['allow', 'deny'] as const) {
      for (const [i, url] of state.urls.entries()) {
        const verdict = matrix[i]?.[column]?.verdict
        if (verdict === undefined || verdict.allowed !== (kind === 'allow')) continue
        const isWritable = verdict.because !== 'invalid-url' && (url.startsWith('/') || URL.canParse(url))
        if (isWritable) lines.push(`${kind} ${crawler} ${url.replace(/\s/g, (blank) => encodeURIComponent(blank))}`)
        else skipped++
      }
    }
  }
  if (skipped > 0) lines.push(`# ${skipped} verdicts on invalid URLs are left out.`)
  return `${lines.join('\n')}\n`
}

/** Returns a test file for Vitest. It reads the robots.txt beside it. */
export function vitestText(state: PlaygroundState): string {
  const matrix = matrixOf(state)
  const rows = state.urls.flatMap((url, i) =>
    state.crawlers.map((crawler, j) => `  [${literal(crawler)}, ${literal(url)}, ${matrix[i]?.[j]?.verdict.allowed}],`),
  )
  const options = state.dialect === 'rfc9309' ? '' : `, { dialect: ${literal(state.dialect)} }`
  return `import { readFileSync } from 'node:fs'
import { parseRobots } from '@politely/core'
import { rulesFor } from '@politely/core/crawlers'
import { expect, test } from 'vitest'

const robots = parseRobots(readFileSync(new URL('robots.txt', import.meta.url))${options})

test.each([
${rows.join('\n')}
])('%s may fetch %s: %s', (crawler, url, allowed) => {
  expect(rulesFor(robots, crawler).isAllowed(url)).toBe(allowed)
})
`
}

/** Returns a string literal of JavaScript. */
function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\p{C}|\u2028|\u2029/gu, (c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c))}'`
}

/** Returns all verdicts as JSON. */
export function jsonText(state: PlaygroundState): string {
  const matrix = matrixOf(state)
  const verdicts = state.urls.flatMap((url, i) =>
    state.crawlers.map((crawler, j) => {
      const cell = matrix[i]?.[j]
      if (cell === undefined) return undefined
      const { verdict, before, isChanged } = cell
      return {
        ...verdict,
        url: withoutCredentials(url),
        crawler,
        reason: describeReason(verdict),
        ...(before !== undefined && { allowedBefore: before.allowed, isChanged }),
      }
    }),
  )
  const { dialect, robots, before } = state
  return `${JSON.stringify({ version: 1, dialect, robots, ...(before !== undefined && { before }), verdicts }, undefined, 2)}\n`
}
