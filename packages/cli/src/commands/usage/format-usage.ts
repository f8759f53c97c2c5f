// Formats what may be done with a page.
import type { Verdict } from '@politely/core'
import {
  conflictKinds,
  describeReading,
  describeSource,
  type Purpose,
  purposes,
  type Usage,
  type UsageConflict,
  type UsageLicense,
} from '@politely/core/usage'
import type { ClientUsage, ClientVerdict } from '@politely/fetcher'
import { adviceOn, reasonText } from '../../output/sentences.ts'
import { bold, dim, green, linesOf, printable, type Row, shorten, yellow } from '../../output/style.ts'
import { answerRow, signedRow } from '../../output/usage-rows.ts'
import { hang } from '../../output/wrap.ts'

/** The answers about one URL, and what the command has read for them. */
export interface UsageReport {
  /** As it was given, without credentials. */
  readonly url: string
  /** The names that the crawler looks for in robots.txt. */
  readonly productTokens: readonly string[]
  /** The answers, about the URL after redirects. */
  readonly usage: Usage
  /** Whether the crawler may fetch that URL. */
  readonly verdict: ClientVerdict | Verdict
  /** The name or URL of the robots.txt. */
  readonly robots: string
  readonly page: ClientUsage['page'] & {
    /** The status of the response, if one arrived. */
    readonly status?: number
    /** The command has requested the page, and it could not be read. */
    readonly isMissing?: true
  }
  readonly tdmrep:
    | Pick<ClientUsage['tdmrep'], 'reading' | 'why'>
    | { readonly reading: 'not-given'; readonly why: string }
}

/** Returns the JSON of a report. */
export function jsonOf({ url, productTokens, usage, verdict, robots, page, tdmrep }: UsageReport): object {
  const { purposes, conflicts, signalUse, licenses, tdmPolicy, directives, problems } = usage
  const { isMissing: _, ...pageJson } = page
  return {
    url,
    finalUrl: usage.url,
    productTokens,
    purposes,
    conflicts,
    signalUse,
    licenses,
    tdmPolicy,
    directives,
    problems,
    robots,
    page: pageJson,
    tdmrep,
    verdict: { ...verdict, url: usage.url },
  }
}

/**
 * Returns lines such as these, and a section each for other readings, licenses and problems:
 *
 *     https://example.com/page  for ExampleBot
 *       ✓ fetch                 allowed     no rule of the group for * (line 1) matches
 *       ✗ index                 disallowed  the header X-Robots-Tag says noindex
 *       · follow                unstated    (following its links)
 *       ✓ search                allowed     line 3 of robots.txt says search=y
 *
 *       robots.txt   https://example.com/robots.txt (200)
 *       page         status 200; headers and the head of the HTML were read
 *       tdmrep.json  the site has no such file (status 404)
 *
 * @param wanted The purposes to print; all if it is empty.
 * @param proxy The value of `--proxy`.
 */
export function formatUsage(report: UsageReport, wanted: readonly Purpose[], proxy?: string): string {
  const { usage } = report
  const shown = wanted.length === 0 ? purposes : purposes.filter((purpose) => wanted.includes(purpose))
  const conflicts = usage.conflicts.filter(({ purpose }) => purpose === undefined || shown.includes(purpose))
  const parts = [
    [
      headline(report),
      fetchRow(report.verdict),
      ...shown.map((purpose) => answerRow(purpose, usage.purposes[purpose])),
    ],
    shown.some((purpose) => usage.purposes[purpose].answer === 'unstated') ? [LEGEND] : [],
    sourceRows(report, proxy),
    section('Contradictions, and other readings:', conflictRows(conflicts)),
    section('Licenses (RSL), which may allow more; none was fetched:', usage.licenses.map(licenseRow)),
    section('Not understood:', unseenProblems(report).map(problemRow)),
  ]
  return parts.flatMap((lines) => (lines.length === 0 ? [] : [`${lines.join('\n')}\n`])).join('\n')
}

const LEGEND = '  unstated: nothing that was read allows it or refuses it'

function headline({ url, usage, productTokens }: UsageReport): string {
  const target = usage.url === url || isSameUrl(url, usage.url) ? '' : ` → ${bold(printable(usage.url))}`
  return `${bold(printable(url))}${target}  for ${productTokens.join(', then ')}`
}

function fetchRow(verdict: UsageReport['verdict']): string {
  return signedRow('fetch', verdict.allowed ? 'allowed' : 'disallowed', shorten(reasonText(verdict)))
}

function isSameUrl(a: string, b: string): boolean {
  return URL.parse(a)?.href === URL.parse(b)?.href
}

function sourceRows(
  { usage, verdict, robots, page, tdmrep }: UsageReport,
  proxy: string | undefined,
): readonly string[] {
  const access = 'access' in verdict ? verdict.access : undefined
  const status = access?.status === undefined ? '' : ` (${access.status})`
  const rows: readonly Row[] = [
    ['robots.txt', `${printable(robots)}${status}`],
    ['advice', adviceOn(access, proxy)],
    ['page', pageText(page)],
    ['tdmrep.json', printable(tdmrep.why)],
    ['limits', limitsOf(usage).join(', ')],
    ['tdm-policy', usage.tdmPolicy && printable(usage.tdmPolicy)],
  ]
  return linesOf(11, rows, hang, '  ')
}

function pageText({ reading, why = '', status, isMissing }: UsageReport['page']): string {
  const read = READINGS[reading]
  const isStatus = why === `the response has the status ${status}`
  const parts = [...(status === undefined ? [] : [`status ${status}`]), ...(read === '' ? [] : [read])]
  const text = [...parts, ...(why === '' || isStatus ? [] : [printable(why)])].join('; ')
  return isMissing ? `${yellow('not read')}: ${text}` : text
}

const READINGS: Readonly<Record<ClientUsage['page']['reading'], string>> = {
  read: 'the headers and the head of the HTML were read',
  'headers-only': 'only the headers were read',
  incomplete: 'only the headers and a part of the head of the HTML were read',
  'not-the-page': '',
  'not-given': '',
}

/** What allows something up to a limit: rules of robots tags, and the key `use` of Content Signals. */
function limitsOf({ directives, signalUse }: Usage): readonly string[] {
  const { maxSnippet, maxImagePreview, maxVideoPreview, unavailableAfter } = directives
  const limits = {
    'use=': signalUse,
    'max-snippet:': maxSnippet,
    'max-image-preview:': maxImagePreview,
    'max-video-preview:': maxVideoPreview,
    'unavailable after ': unavailableAfter === undefined ? undefined : new Date(unavailableAfter).toISOString(),
  }
  return Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [`${name}${value}`]))
}

function section(title: string, rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : [`  ${title}`, ...rows]
}

/** One row for each kind of conflict, and below it one for each pair of answers. */
function conflictRows(conflicts: readonly UsageConflict[]): readonly string[] {
  const byKind = Map.groupBy(conflicts, ({ kind }) => kind)
  return [...byKind].flatMap(([kind, ofKind]) => {
    const byReading = Map.groupBy(ofKind, (conflict) => readingText(conflict))
    const rows = [...byReading].map(([text, same]) => {
      const names = same.flatMap(({ purpose }) => purpose ?? [])
      return `    ${hang(`${names.length === 0 ? '' : `${names.join(', ')}: `}${text}`, 6)}`
    })
    return [`  ${yellow('!')} ${hang(conflictKinds[kind], 4)}`, ...rows.map(dim)]
  })
}

function readingText({ kind, readings: [followed, other] }: UsageConflict): string {
  const known = new Set(followed.sources.map(describeSource))
  const sources = [...new Set(other.sources.map(describeSource))].filter((source) => !known.has(source)).slice(0, 3)
  if (kind === 'channels-disagree') return `${other.answer} by ${sources.join('; ')}`
  const where = sources.length === 0 ? '' : `: ${sources.join('; ')}`
  return `${describeReading(followed)}, but ${describeReading(other)}${where}`
}

const SCOPES: Readonly<Record<UsageLicense['scope'], string>> = {
  page: 'for this page',
  group: 'for the group of this crawler',
  site: 'for the whole site',
  'other-group': 'for other crawlers',
}

function licenseRow({ url, scope, applies, source }: UsageLicense): string {
  const text = `${printable(url)}  ${SCOPES[scope]}, ${describeSource(source)}`
  return `  ${applies ? green('•') : dim('•')} ${hang(applies ? text : dim(`${text}; does not apply`), 4)}`
}

/** Without the problem of a whole tdmrep.json, which its row above tells. */
function unseenProblems({ usage, tdmrep }: UsageReport): Usage['problems'] {
  return usage.problems.filter(({ source, why }) => source.in !== 'tdmrep.json' || !tdmrep.why.startsWith(why))
}

function problemRow({ source, why }: Usage['problems'][number]): string {
  const said = source.text === '' ? '' : ` says ${printable(source.text)}`
  return `  ${yellow('!')} ${hang(`${describeSource(source)}${said}: ${printable(why)}`, 4)}`
}
