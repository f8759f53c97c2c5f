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
  readonly lines: readonly { readonly line: number; readonly text: string; readonly decides: boolean }[]
  /** The decision, or the decision about the same origin by which the answer was computed. */
  readonly decision?: DecisionRecord & Place
  readonly results: readonly ResultRecord[]
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
  const { decision, results, nearest, count, from, to } = await lookUp(folder, shownUrl, at)
  if (decision !== undefined) {
    const sentences = sentencesOf(decision, shownUrl, results)
    const lines = await linesAround(folder, decision, recordedVerdict(decision))
    return { url: shownUrl, found: 'recorded', sentences, lines, decision, results }
  }
  const origin = originOf(shownUrl) ?? shownUrl
  if (nearest === undefined) {
    const later = `Nothing was recorded by then; the first decision about ${origin} is of ${timeText(from)}.`
    const sentences = [count === 0 ? `Nothing is recorded about ${origin}.` : later]
    return { url: shownUrl, found: 'unknown', sentences, lines: [], results }
  }
  const verdict = await new Replayer(folder).decide(nearest, shownUrl)
  const isKnown = typeof verdict !== 'string'
  const sentences = [
    `No decision about ${shownUrl} is recorded.`,
    `About ${origin}, ${count} decisions are recorded, from ${timeText(from)} to ${timeText(to)}.`,
    isKnown
      ? `Computed now, not recorded: at ${timeText(nearest.time)} the URL would have been ${describeVerdict(verdict)}.`
      : `What it would have been can't be computed (${verdict}).`,
    ...fileSentences(nearest),
  ]
  const lines = isKnown ? await linesAround(folder, nearest, verdict) : []
  return { url: shownUrl, found: 'computed', sentences, lines, decision: nearest, results }
}

/** Finds the last decision about a URL, its results, and the last one about its origin, `nearest`. */
async function lookUp(folder: EvidenceFolder, url: string, until: number) {
  const origin = originOf(url)
  const urls = [url, URL.parse(url)?.href.replace(/#.*/s, '') ?? url] // also as a URL parser writes it
  const hashes = urls.map(sha256Of)
  let [decision, nearest]: (EvidenceExplanation['decision'] | undefined)[] = []
  let results: ResultRecord[] = []
  let count = 0
  let [from, to] = ['', '']
  for await (const { record, file, line } of folder.items()) {
    if (record?.kind === 'result' && record.id === decision?.id) results.push(record)
    if (record?.kind !== 'decision') continue
    const isUrl = record.hashed === undefined ? urls.includes(record.url) : hashes.includes(record.hashed)
    if (!isUrl && (origin === undefined || record.origin !== origin)) continue
    count++
    if (from === '' || record.time < from) from = record.time
    if (record.time > to) to = record.time
    if (Date.parse(record.time) > until) continue
    if (record.state !== undefined && record.time >= (nearest?.time ?? '')) nearest = { ...record, file, line }
    if (!isUrl || record.time < (decision?.time ?? '')) continue
    decision = { ...record, file, line }
    results = []
  }
  return { decision, results, nearest, count, from, to }
}

const USES: Readonly<Record<string, string>> = {
  request: 'before a request',
  'stored-page': 'before a stored page was used',
  check: 'in a check without a request',
}

function sentencesOf(record: DecisionRecord & Place, url: string, results: readonly ResultRecord[]): readonly string[] {
  const { by, time, use, verdict, obey, redirectedFrom, hashed, file, line } = record
  const dialect = typeof by.dialect === 'string' ? by.dialect : 'of its own'
  const isRequested = use === 'request' && (verdict.allowed || obey !== undefined)
  const unknown = isRequested ? 'What became of the request is not recorded.' : 'No request was sent.'
  return [
    `At ${timeText(time)}, ${USES[use] ?? use}: ${url} was ${describeVerdict({ ...recordedVerdict(record), url })}.`,
    redirectedFrom && `${redirectedFrom.join(', then ')} led to this URL.`,
    obey &&
      `The crawler could request it all the same: its option obey has rules: ${obey.rules}, delays: ${obey.delays}.`,
    ...fileSentences(record),
    `The crawler calls itself "${by.userAgent}", and looks in robots.txt for ${by.productTokens.join(', then ')}, in the dialect ${dialect}.`,
    by.purpose && `The purpose of the crawl is "${by.purpose}".`,
    ...(results.length > 0 ? results.flatMap(resultSentences) : [unknown]),
    `Recorded by Politely ${by.politely} in ${file}, line ${line}${hashed ? ', with the hash of the URL' : ''}.`,
  ].filter((sentence) => typeof sentence === 'string')
}

/** Says which robots.txt it was, and how old. */
function fileSentences({ robotsTxt, access, time }: DecisionRecord): readonly string[] {
  if (access === undefined) return []
  const checked = `The last attempt to fetch robots.txt ended at ${timeText(access.checkedAt)}.`
  if (robotsTxt === undefined) return [checked]
  const { url, sha256, confirmedAt, truncated } = robotsTxt
  const role = access.copy === undefined ? 'A copy that did not decide was' : 'The robots.txt was'
  const end = truncated ? ' It was longer than the limit, and its end was not read.' : ''
  return [
    `${role} ${url}, SHA-256 ${sha256}.`,
    `The site last sent or confirmed it at ${timeText(confirmedAt)}, ${ageText(Date.parse(time) - confirmedAt)} before.${end}`,
    ...(access.copy?.freshness === 'fresh' ? [] : [checked]),
  ]
}

function resultSentences(result: ResultRecord): readonly (string | undefined)[] {
  const { outcome, permit, status, error, time, tookMs, keyId, body, usage } = result
  const wait = permit?.waitedMs ? `a wait of ${ageText(permit.waitedMs)} (${permit.waitedFor})` : 'no wait'
  const ends: Readonly<Record<string, string | undefined>> = {
    answered: `The site answered with status ${status}${tookMs === undefined ? '' : ` after ${ageText(tookMs)}`}.`,
    failed: `The request got no response (${error}).`,
    'not-reported': `The request ended at ${timeText(time)}; its sender did not say how.`,
    'not-sent': `No request was sent (${error}).`,
    'stored-page': 'A stored page was used; no request was sent.',
  }
  return [
    permit && `The request could start at ${timeText(permit.time)}, after ${wait}.`,
    keyId && `It was signed by the key ${keyId}.`,
    ends[outcome],
    body && `Its body has ${body.bytes} bytes and the SHA-256 ${body.sha256}.`,
    usage && `What may be done with the page: ${JSON.stringify(usage)}.`,
  ]
}

async function linesAround(
  folder: EvidenceFolder,
  { robotsTxt }: DecisionRecord,
  verdict: ReturnType<typeof recordedVerdict>,
): Promise<EvidenceExplanation['lines']> {
  if (verdict.because !== 'rule' || robotsTxt === undefined) return []
  const { bytes = '' } = await folder.robotsFile(robotsTxt.sha256)
  const all = Buffer.from(bytes, 'latin1')
    .toString()
    .split(/\r\n|\r|\n/)
  const at = verdict.rule.line
  const first = Math.max(1, at - AROUND)
  return all.slice(first - 1, at + AROUND).map((text, n) => ({ line: first + n, text, decides: first + n === at }))
}

function timeText(time: string | number): string {
  return formatTime(typeof time === 'number' ? time : Date.parse(time))
}

/** Uses the largest unit of which there are at least two. */
function ageText(ms: number): string {
  const [unit, name] = (
    [
      [86_400_000, 'days'],
      [3_600_000, 'hours'],
      [60_000, 'minutes'],
    ] as const
  ).find(([size]) => ms >= 2 * size) ?? [1000, 'seconds']
  return `${Number((ms / unit).toFixed(1))} ${name}`
}
