// Explains what was decided about a URL, in sentences for readers who know no records.
import { describeVerdict, originOf } from '@politely/core'
import { type Describable, formatTime, withoutCredentials } from '@politely/core/internal'
import type { DecisionRecord, ResultRecord } from '../record.ts'
import { EvidenceFolder, type Place, sha256Of } from './read.ts'

/** What a folder says about a URL. */
export interface EvidenceExplanation {
  readonly url: string
  /** What happened, in sentences, the most important first. */
  readonly sentences: readonly string[]
  /** The line of robots.txt that decides, and two lines around it. */
  readonly lines: readonly { readonly line: number; readonly text: string; readonly decides: boolean }[]
  /** Absent if none about the URL is recorded. */
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
  { at = Infinity }: { readonly at?: number | undefined } = {},
): Promise<EvidenceExplanation> {
  const folder = new EvidenceFolder(dir)
  const shown = withoutCredentials(url)
  const origin = originOf(shown)
  const urls = [shown, URL.parse(shown)?.href.replace(/#.*/s, '') ?? shown] // also as a URL parser writes it
  const hashes = urls.map(sha256Of)
  let decision: EvidenceExplanation['decision']
  let nearest: DecisionRecord | undefined
  let results: ResultRecord[] = []
  let count = 0
  for await (const { record, file, line } of folder.items()) {
    if (record?.kind === 'result' && record.id === decision?.id) results.push(record)
    if (record?.kind !== 'decision' || Date.parse(record.time) > at) continue
    const isUrl = record.hashed === undefined ? urls.includes(record.url) : hashes.includes(record.hashed)
    if (isUrl && record.time >= (decision?.time ?? '')) {
      decision = { ...record, file, line }
      results = []
    } else if (origin !== undefined && record.origin === origin) {
      count++
      if (record.time >= (nearest?.time ?? '')) nearest = record
    }
  }
  const sentences = decision === undefined ? unknown(shown, nearest, count) : known(shown, decision, results)
  const lines = decision === undefined ? [] : await linesAround(folder, decision)
  return { url: shown, sentences, lines, results, ...(decision && { decision }) }
}

function unknown(url: string, nearest: DecisionRecord | undefined, count: number): readonly string[] {
  if (nearest === undefined) return [`Nothing is recorded about ${originOf(url) ?? url}.`]
  return [
    `No decision about ${url} is recorded.`,
    `There are ${count} about ${nearest.origin}, the last one at ${timeText(nearest.time)}.`,
    ...fileSentences(nearest),
  ]
}

function known(url: string, record: DecisionRecord & Place, results: readonly ResultRecord[]): readonly string[] {
  const { by, time, use, verdict, access, obey, redirectedFrom, hashed, file, line } = record
  const dialect = typeof by.dialect === 'string' ? by.dialect : 'of its own'
  const isSent = use === 'request' && (verdict.allowed || obey !== undefined)
  const without = isSent ? 'What became of the request is not recorded.' : 'No request was sent.'
  return [
    `At ${timeText(time)} (${use}), ${url} was ${describeVerdict({ ...verdict, access, url } as Describable)}.`,
    ...(redirectedFrom ? [`${redirectedFrom.join(', then ')} led to this URL.`] : []),
    ...(obey ? [`The options of the crawler allow it all the same: obey: ${JSON.stringify(obey)}.`] : []),
    ...fileSentences(record),
    `The crawler calls itself "${by.userAgent}", and looks in robots.txt for ${by.productTokens.join(', then ')}, in the dialect ${dialect}.`,
    ...(by.purpose ? [`The purpose of the crawl is "${by.purpose}".`] : []),
    ...(results.length > 0 ? results.map(resultSentence) : [without]),
    `Recorded by Politely ${by.politely} in ${file}, line ${line}${hashed ? ', with the hash of the URL' : ''}.`,
  ]
}

/** Says which robots.txt it was, and how old. */
function fileSentences({ robotsTxt, access }: DecisionRecord): readonly string[] {
  const { copy, checkedAt } = access ?? {}
  const what = copy === undefined ? 'A copy that did not decide was' : 'The robots.txt was'
  const { url, sha256, confirmedAt } = robotsTxt ?? {}
  const confirmed = `The site last sent or confirmed it at ${timeText(confirmedAt)}.`
  const checked = `The last attempt to fetch robots.txt ended at ${timeText(checkedAt)}.`
  return [
    ...(robotsTxt ? [`${what} ${url}, SHA-256 ${sha256}.`, confirmed] : []),
    ...(access && copy?.freshness !== 'fresh' ? [checked] : []),
  ]
}

function resultSentence({ outcome, permit, status, error, tookMs, keyId, body, usage }: ResultRecord): string {
  const wait = permit?.waitedMs ? `a wait of ${permit.waitedMs} ms (${permit.waitedFor})` : 'no wait'
  const parts = [
    outcome,
    permit && `start at ${timeText(permit.time)} after ${wait}`,
    keyId && `signed by the key ${keyId}`,
    status && `status ${status}`,
    tookMs !== undefined && `${tookMs} ms until the end`,
    error,
    body && `a body of ${body.bytes} bytes, SHA-256 ${body.sha256}`,
    usage && `use of the page: ${JSON.stringify(usage)}`,
  ]
  return `What became of it: ${parts.filter(Boolean).join('; ')}.`
}

async function linesAround(
  folder: EvidenceFolder,
  { robotsTxt, verdict }: DecisionRecord,
): Promise<EvidenceExplanation['lines']> {
  const { line: at } = (verdict.rule ?? {}) as { readonly line?: number }
  if (at === undefined || robotsTxt === undefined) return []
  const { bytes = '' } = await folder.robotsFile(robotsTxt.sha256)
  const text = Buffer.from(bytes, 'latin1').toString()
  const lines = text.split(/\r\n|\r|\n/).map((text, n) => ({ line: n + 1, text, decides: n + 1 === at }))
  return lines.slice(Math.max(0, at - 1 - AROUND), at + AROUND)
}

function timeText(time: string | number | undefined): string {
  return formatTime(new Date(time ?? Number.NaN).getTime())
}
