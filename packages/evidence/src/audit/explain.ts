// Explains what was decided about a URL, in sentences for readers who know no records.
import { describeVerdict, originOf } from '@politely/core'
import { formatTime, withoutCredentials } from '@politely/core/internal'
import type { DecisionRecord, ResultRecord } from '../record.ts'
import { Replayer, recordedVerdict } from './decision.ts'
import { EvidenceFolder, type Place } from './read.ts'
import { sha256Of } from './robots-files.ts'

/** What a folder says about a URL. */
export interface EvidenceExplanation {
  readonly url: string
  /**
   * `recorded`: a decision about the URL. `computed`: there is none, and the sentences say what the
   * robots.txt of the origin, as it was recorded, says about the URL. `unknown`: nothing is known.
   */
  readonly found: 'recorded' | 'computed' | 'unknown'
  /** What happened, in sentences, the most important first. */
  readonly sentences: readonly string[]
  /** The line of robots.txt that decides, and two lines around it. */
  readonly lines: readonly ExplainedLine[]
  /** The decision, or the decision about the same origin by which the answer was computed. */
  readonly decision?: DecisionRecord & Place
  readonly results: readonly ResultRecord[]
}

export interface ExplainedLine {
  readonly line: number
  readonly text: string
  readonly decides: boolean
}

const AROUND = 2

/**
 * Explains the last decision about a URL.
 * @param options `at`: the last decision until then. Milliseconds since 1970. Default: until today.
 * @throws {OptionError} if `dir` is not a folder, or a folder without records.
 */
export async function explain(
  dir: string,
  url: string,
  { at = Number.POSITIVE_INFINITY }: { readonly at?: number | undefined } = {},
): Promise<EvidenceExplanation> {
  using folder = new EvidenceFolder(dir)
  const shownUrl = withoutCredentials(url)
  const known = await lookUp(folder, shownUrl, at)
  const { decision, nearest } = known
  if (decision !== undefined) {
    const sentences = [
      ...decisionSentences(decision, shownUrl),
      ...resultSentences(decision, known.results),
      recordSentence(decision),
    ]
    const lines = await linesAround(folder, decision, recordedVerdict(decision))
    return { url: shownUrl, found: 'recorded', sentences, lines, decision, results: known.results }
  }
  const { origin, count, from, to } = known
  if (nearest === undefined || origin === undefined) {
    const what =
      count === 0
        ? `Nothing is recorded about ${origin ?? shownUrl}`
        : `Nothing was recorded by then; the first decision about ${origin} is of ${timeText(from)}`
    return { url: shownUrl, found: 'unknown', sentences: [`${what}.`], lines: [], results: [] }
  }
  const verdict = await new Replayer(folder).decide(nearest, shownUrl)
  const sentences = [
    `No decision about ${shownUrl} is recorded.`,
    `About ${origin}, ${count} decisions are recorded, from ${timeText(from)} to ${timeText(to)}.`,
    typeof verdict === 'string'
      ? `What it would have been can't be computed (${verdict}).`
      : `Computed now, not recorded: at ${timeText(nearest.time)} the URL would have been ${describeVerdict(verdict)}.`,
    ...fileSentences(nearest),
  ]
  const lines = typeof verdict === 'string' ? [] : await linesAround(folder, nearest, verdict)
  return { url: shownUrl, found: 'computed', sentences, lines, decision: nearest, results: [] }
}

interface Known {
  /** The last decision about the URL. */
  readonly decision: (DecisionRecord & Place) | undefined
  readonly results: readonly ResultRecord[]
  readonly origin: string | undefined
  /** The decisions about the origin, at any time. */
  readonly count: number
  readonly from: string
  readonly to: string
  /** The last one with a state. */
  readonly nearest: (DecisionRecord & Place) | undefined
}

async function lookUp(folder: EvidenceFolder, url: string, until: number): Promise<Known> {
  const origin = originOf(url)
  const urls = new Set([url, withoutFragment(url)])
  const hashes = new Set([...urls].map(sha256Of))
  let decision: Known['decision']
  let nearest: Known['nearest']
  let results: ResultRecord[] = []
  let count = 0
  let [from, to] = ['', '']
  for await (const { record, file, line } of folder.items()) {
    if (record?.kind === 'result' && record.id === decision?.id) results.push(record)
    if (record?.kind !== 'decision') continue
    const isUrl = record.hashed === undefined ? urls.has(record.url) : hashes.has(record.hashed)
    if (record.origin !== origin && !isUrl) continue
    count++
    if (from === '' || record.time < from) from = record.time
    if (record.time > to) to = record.time
    if (Date.parse(record.time) > until) continue
    if (record.state !== undefined && record.time >= (nearest?.time ?? '')) nearest = { ...record, file, line }
    if (!isUrl || record.time < (decision?.time ?? '')) continue
    decision = { ...record, file, line }
    results = []
  }
  return { decision, results, origin, count, from, to, nearest }
}

/** As a URL parser writes it, without the fragment, which is not sent. */
function withoutFragment(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  url.hash = ''
  return url.href
}

function decisionSentences(record: DecisionRecord, url: string): readonly string[] {
  const { by, time, use, verdict, obey, redirectedFrom } = record
  const purpose = by.purpose === undefined ? '' : ` The purpose of the crawl is "${by.purpose}".`
  const dialect = typeof by.dialect === 'string' ? by.dialect : `"${(by.dialect as { name?: unknown }).name}", its own`
  const because = describeVerdict({ ...recordedVerdict(record), url })
  return [
    `At ${timeText(time)}, ${USES[use] ?? use}: ${url} was ${because}.`,
    ...(redirectedFrom === undefined ? [] : [`${redirectedFrom.join(', then ')} led to this URL.`]),
    ...(obey === undefined || verdict.allowed
      ? []
      : [`It was requested all the same, by the crawler's option ${obeyText(obey)}.`]),
    ...fileSentences(record),
    `The crawler calls itself "${by.userAgent}", and looks in robots.txt for ${by.productTokens.join(', then ')}, in the dialect ${dialect}.${purpose}`,
  ]
}

function recordSentence({ by, file, line, hashed }: DecisionRecord & Place): string {
  return `Recorded by Politely ${by.politely} in ${file}, line ${line}${hashed === undefined ? '' : ', with the hash of the URL'}.`
}

const USES: Readonly<Record<string, string>> = {
  request: 'before a request',
  'stored-page': 'before a stored page was used',
  check: 'in a check without a request',
}

function obeyText({ rules, delays }: NonNullable<DecisionRecord['obey']>): string {
  return `obey: { rules: ${rules}, delays: ${delays} }`
}

/** Says which robots.txt it was, and how old. */
function fileSentences({ robotsTxt, access, time }: DecisionRecord): readonly string[] {
  if (access === undefined) return []
  const checked = `The last attempt to fetch robots.txt ended at ${timeText(access.checkedAt)}.`
  if (robotsTxt === undefined) return [checked]
  const { url, sha256, confirmedAt, truncated } = robotsTxt
  const ageMs = Date.parse(time) - confirmedAt
  const role = access.copy === undefined ? 'A copy that did not decide was' : 'The robots.txt was'
  const end = truncated ? ' It was longer than the limit, and its end was not read.' : ''
  return [
    `${role} ${url}, SHA-256 ${sha256}.`,
    `The site last sent or confirmed it at ${timeText(confirmedAt)}, ${ageText(ageMs)} before.${end}`,
    ...(access.copy?.freshness === 'fresh' ? [] : [checked]),
  ]
}

function resultSentences({ use, verdict, obey }: DecisionRecord, results: readonly ResultRecord[]): readonly string[] {
  if (results.length > 0) return results.flatMap(resultSentence)
  if (use !== 'request') return []
  const mayStart = verdict.allowed || obey !== undefined
  return [mayStart ? 'What became of the request is not recorded.' : 'No request was sent.']
}

function resultSentence({
  outcome,
  permit,
  status,
  error,
  time,
  tookMs,
  keyId,
  body,
  usage,
}: ResultRecord): readonly string[] {
  const waited =
    permit &&
    (permit.waitedMs > 0 ? `, after a wait of ${ageText(permit.waitedMs)} (${permit.waitedFor})` : ', without a wait')
  const signed = keyId === undefined ? '' : `, signed by the key ${keyId}`
  const took = tookMs === undefined ? '' : ` after ${ageText(tookMs)}`
  const ends: Readonly<Record<ResultRecord['outcome'], string>> = {
    answered: `The site answered with status ${status}${took}.`,
    failed: `The request got no response (${error}).`,
    'not-reported': `The request ended at ${timeText(time)}; its sender did not say how.`,
    'not-sent': `No request was sent (${error}).`,
    'stored-page': 'A stored page was used; no request was sent.',
    noted: '',
  }
  return [
    permit === undefined ? '' : `The request could start at ${timeText(permit.time)}${waited}${signed}.`,
    ends[outcome] ?? outcome,
    body === undefined ? '' : `Its body has ${body.bytes} bytes and the SHA-256 ${body.sha256}.`,
    usage === undefined
      ? ''
      : `What may be done with the page: ${Object.entries(usage)
          .map((pair) => pair.join(' '))
          .join(', ')}.`,
  ].filter((sentence) => sentence !== '')
}

async function linesAround(
  folder: EvidenceFolder,
  { robotsTxt }: DecisionRecord,
  verdict: ReturnType<typeof recordedVerdict>,
): Promise<readonly ExplainedLine[]> {
  if (verdict.because !== 'rule' || robotsTxt === undefined) return []
  const { bytes } = await folder.robotsFile(robotsTxt.sha256)
  const all =
    bytes === undefined
      ? []
      : Buffer.from(bytes, 'latin1')
          .toString()
          .split(/\r\n|\r|\n/)
  const at = verdict.rule.line
  const first = Math.max(1, at - AROUND)
  return all.slice(first - 1, at + AROUND).map((text, n) => ({ line: first + n, text, decides: first + n === at }))
}

function timeText(time: string | number): string {
  return formatTime(typeof time === 'number' ? time : Date.parse(time))
}

const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'hours'],
  [60_000, 'minutes'],
] as const

/** Uses the largest unit of which there are at least two. */
function ageText(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => Math.abs(ms) >= 2 * size) ?? [1000, 'seconds']
  return `${Number((ms / unit).toFixed(1))} ${name}`
}
