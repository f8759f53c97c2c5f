// Explains what was decided about a URL, in sentences for readers who know no records.
import { hash } from 'node:crypto'
import { describeVerdict, originOf } from '@politely/core'
import { type Describable, formatTime, withoutCredentials } from '@politely/core/internal'
import type { DecisionRecord, ResultRecord } from '../record.ts'
import { EvidenceFolder, type Place } from './read.ts'

/** What a folder says about a URL. */
export interface EvidenceExplanation {
  readonly url: string
  /** What happened, in sentences, the most important first. */
  readonly sentences: readonly string[]
  /** Absent if none about the URL is recorded. */
  readonly decision?: DecisionRecord & { readonly file: string; readonly line: number }
  readonly results: readonly ResultRecord[]
}

/**
 * Explains the last decision about a URL.
 * @param options `at`: the last decision until then. Milliseconds since 1970. Default: until today.
 * @throws {OptionError} if `dir` is not a folder, or a folder without records.
 */
export async function explainEvidence(
  dir: string,
  url: string,
  options: { readonly at?: number | undefined } = {},
): Promise<EvidenceExplanation> {
  const { at = Infinity } = options
  const shown = withoutCredentials(url)
  const urls = [shown, URL.parse(shown)?.href.replace(/#.*/s, '') ?? shown] // also as a URL parser writes it
  const hashes = urls.map((each) => hash('sha256', each))
  let decision: EvidenceExplanation['decision']
  let nearest: DecisionRecord | undefined
  let results: ResultRecord[] = []
  for await (const { record, file, line } of new EvidenceFolder(dir).items()) {
    if (record?.kind === 'result' && record.id === decision?.id) results.push(record)
    if (record?.kind !== 'decision' || Date.parse(record.time) > at) continue
    const isUrl = record.hashed === undefined ? urls.includes(record.url) : hashes.includes(record.hashed)
    if (isUrl && record.time >= (decision?.time ?? '')) {
      decision = { ...record, file, line }
      results = []
    } else if (record.origin === (originOf(shown) ?? '') && record.time >= (nearest?.time ?? '')) nearest = record
  }
  const explanation = { url: shown, results, ...(decision && { decision }) }
  try {
    if (decision !== undefined) return { ...explanation, sentences: sentencesOf(decision, shown, results) }
    const none = `No decision about ${shown} is recorded.`
    if (nearest === undefined) return { ...explanation, sentences: [none] }
    const last = `The last one about ${nearest.origin} is of ${timeText(nearest.time)}.`
    return { ...explanation, sentences: [none, last, ...fileSentences(nearest)] }
  } catch {
    return { ...explanation, sentences: [`The record about ${shown} was changed: a part of it is missing.`] }
  }
}

function sentencesOf(record: DecisionRecord & Place, url: string, results: readonly ResultRecord[]): readonly string[] {
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
  const checked = `The last attempt to fetch robots.txt ended at ${timeText(access?.checkedAt)}.`
  if (robotsTxt === undefined) return access ? [checked] : []
  const { url, sha256, confirmedAt } = robotsTxt
  const what = access?.copy ? 'The robots.txt was' : 'A copy that did not decide was'
  return [`${what} ${url}, SHA-256 ${sha256}, which the site last confirmed at ${timeText(confirmedAt)}.`, checked]
}

function resultSentence({ outcome, permit, status, error, tookMs, keyId, body, usage }: ResultRecord): string {
  const taken = tookMs === undefined ? '' : ` after ${tookMs} ms`
  const parts = [
    permit && `a start at ${timeText(permit.time)} after a wait of ${permit.waitedMs} ms (${permit.waitedFor})`,
    keyId && `signed by the key ${keyId}`,
    `${outcome}${status ? ` with status ${status}` : ''}${taken}${error ? ` (${error})` : ''}`,
    body && `a body of ${body.bytes} bytes, SHA-256 ${body.sha256}`,
    usage && `use of the page: ${JSON.stringify(usage)}`,
  ]
  return `What followed: ${parts.filter(Boolean).join(', ')}.`
}

function timeText(time: string | number | undefined): string {
  return formatTime(new Date(time ?? Number.NaN).getTime())
}
