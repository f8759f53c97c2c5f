// Prints the verdicts of `politely match`. `ndjson` and `csv` are a contract; the text is for people
// and may change.

import { explainUrlProblem } from '@politely/core'
import { withoutCredentials } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { csvLine } from '../../output/csv.ts'
import { dim, green, printable, red } from '../../output/style.ts'
import { jsonLine } from '../../output/write.ts'
import type { MatchVerdict } from './rule-books.ts'

export type VerdictFormat = 'ndjson' | 'text' | 'csv'

/** @throws {UsageError} if the text for people is to go into a file. */
export function formatFor(args: Arguments): VerdictFormat {
  const byDefault = process.stdout.isTTY && !args.has('output') ? 'text' : 'ndjson'
  const format = (args.get('format') ?? byDefault) as VerdictFormat
  if (format === 'text' && args.has('output'))
    throw new UsageError('--output: text is for people; write --format ndjson or csv')
  return format
}

/** @param crawler The name of the crawler; undefined to leave it out. */
type FormatVerdict = (url: string, verdict: MatchVerdict, crawler: string | undefined) => string

export const FORMAT_VERDICT: Readonly<Record<VerdictFormat, FormatVerdict>> = {
  ndjson(url, verdict, crawler) {
    const shown = withoutCredentials(url)
    const head = crawler === undefined ? { version: 1, url: shown } : { version: 1, url: shown, crawler }
    return jsonLine(Object.assign(head, verdict, { url: shown }))
  },
  text(url, verdict, crawler) {
    const mark = verdict.allowed ? green('✓') : red('✗')
    const who = crawler === undefined ? '' : `${crawler}  `
    return `${mark} ${who}${printable(withoutCredentials(url))}  ${dim(reasonOf(url, verdict))}\n`
  },
  csv(url, verdict, crawler) {
    const { line, rule } = ruleOf(verdict)
    const cells = [withoutCredentials(url), crawler ?? '', verdict.allowed, verdict.because, line, rule]
    return csvLine(cells)
  },
}

/** The first line of a CSV file. */
export const CSV_HEADER = 'url,crawler,allowed,because,line,rule\r\n'

function ruleOf(verdict: MatchVerdict): { readonly line: number | ''; readonly rule: string } {
  if (verdict.because !== 'rule') return { line: '', rule: '' }
  const { directive, text, line } = verdict.rule
  return { line, rule: `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${text}` }
}

function reasonOf(url: string, verdict: MatchVerdict): string {
  switch (verdict.because) {
    case 'rule': {
      const { line, rule } = ruleOf(verdict)
      return `line ${line}: ${printable(rule)}`
    }
    case 'no-rule-matched':
      return 'no rule matches'
    case 'no-group':
      return 'no group applies'
    case 'robots-txt-itself':
      return 'robots.txt itself is always allowed'
    case 'other-origin':
      return `the file is for ${printable(verdict.fileOrigin)} only`
    case 'no-file':
      return `there is no ${printable(verdict.file)}`
    case 'invalid-url':
      return explainUrlProblem(verdict.problem, url)
  }
}
