// TDMRep, the TDM Reservation Protocol: the final report of the W3C Community Group, 2024-05-10.
// With it, a site says whether it reserves the rights of text and data mining (Directive (EU)
// 2019/790, Article 4).
//
// A site may say it in three places. Each place has the same two properties:
//
//   place                       reservation              policy
//   /.well-known/tdmrep.json    "tdm-reservation": 1     "tdm-policy": "https://…"
//   headers of the response     tdm-reservation: 1       tdm-policy: https://…
//   head of the HTML page       <meta name="tdm-reservation" content="1">, and the same for the policy
//
// Each property is settled separately. A property of a later place in this table replaces the same
// property of an earlier place. If a place doesn't have the property, it replaces nothing. Nor does
// a reservation other than 0 and 1, which counts as unset.
import { decodeText, encodeText, type HasBytes, textOf } from '../bytes.ts'
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'
import { foreignFormatOf } from '../foreign-format.ts'
import { headerLines, type ResponseHeaders } from '../http/header-lines.ts'
import { matchesWildcards } from '../match/pattern.ts'
import { workspace } from '../match/workspace.ts'
import { normalForms, writeNormalForm } from '../url/normal-form.ts'
import type { UrlInput } from '../url/origin.ts'
import { sentUrlOf } from '../url/sent-path.ts'
import { type Statement, type UsageProblem, type UsageSource, usageSourceOf } from './purpose.ts'
import type { PageHead } from './tags/page-head.ts'
import { describeRobotsProblem } from './tags/robots-directives.ts'

/** The names of TDMRep, and the version that they come from. */
export const tdmrepTerms = {
  /** The key of TDMRep in `Statement.vocabulary`. */
  vocabulary: 'tdmrep-2024-05-10',
  /** The path of the file of an origin. */
  path: '/.well-known/tdmrep.json',
  reservation: 'tdm-reservation',
  policy: 'tdm-policy',
} as const

/** The size limit of a file, in bytes. Our choice: the limit of robots.txt, RFC 9309 §2.5. */
const MAX_FILE_BYTES = 500 * 1024
/** How many rules of a file are read. Our choice: a file of the largest size has about 14,000. */
const MAX_RULES = 10_000
/** How many problems of a file are kept. The first problems show what is wrong with it. */
const MAX_PROBLEMS = 100

/**
 * The text or the bytes of a tdmrep.json, or the array that `JSON.parse` returns for it; or an object
 * with its bytes in a string, one character for each (latin1), such as a `Copy`. If its `truncated`
 * is true, the file counts as too large.
 * @inline
 */
export type TdmrepSource =
  | string
  | Uint8Array
  | readonly unknown[]
  | (HasBytes & { readonly truncated?: boolean | undefined })

/** A tdmrep.json, parsed. JSON-safe. */
export interface TdmrepFile {
  /** Whether the file is a JSON array. If not, it has no rules, and `problems` says why. */
  readonly isReadable: boolean
  /** The rules in the order of the file. The first rule that matches decides. */
  readonly rules: readonly TdmrepRule[]
  /** What was ignored and why: the first 100 problems. */
  readonly problems: readonly UsageProblem[]
}

/**
 * One rule of a tdmrep.json.
 * @inline
 */
export interface TdmrepRule {
  /** The position of the rule in the array, counted from 1. */
  readonly number: number
  /** The pattern of the paths that the rule is about, as written. */
  readonly location: string
  /** Whether the rights are reserved (`1`) or not (`0`). Undefined for any other value. */
  readonly reservation: '0' | '1' | undefined
  /** The URL of the policy as written. */
  readonly policy: string | undefined
}

/**
 * Parses a tdmrep.json. Never throws because of the content of a file. Unknown members of a rule are
 * ignored. A reservation in quotation marks (`"1"`) is read as the number; our choice.
 *
 * @throws {OptionError} if `source` has another type.
 */
export function parseTdmrep(source: TdmrepSource): TdmrepFile {
  return parseFile(source, 'source')
}

/** Parses a file, unless it is parsed already. @param option The name of the option, for errors. */
export function tdmrepFileOf(file: TdmrepSource | TdmrepFile, option: string): TdmrepFile {
  return isParsed(file) ? file : parseFile(file, option)
}

function parseFile(source: TdmrepSource, option: string): TdmrepFile {
  if (Array.isArray(source)) return fileOf(source)
  // What JSON.parse returns for a file that is not an array. The mistake is the site's.
  if (isPlainObject(source) && !('bytes' in source)) return unreadable(textOfValue(source), NOT_AN_ARRAY)
  const text = textOfFile(source as Exclude<TdmrepSource, readonly unknown[]>, option)
  if (text === undefined) return unreadable('', 'the file is larger than 500 KiB, so it is ignored')
  let rules: unknown
  try {
    rules = JSON.parse(text)
  } catch {
    return foreignFormatOf(text) === 'html'
      ? unreadable('', 'the server sent a web page instead of the file, so it is ignored')
      : unreadable(text, 'the file is not valid JSON, so it is ignored')
  }
  return Array.isArray(rules) ? fileOf(rules) : unreadable(text, NOT_AN_ARRAY)
}

function fileOf(rules: readonly unknown[]): TdmrepFile {
  const parsed: TdmrepRule[] = []
  const problems: UsageProblem[] = []
  const report: Report = (name, found, why) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ source: sourceInFile(name, textOfValue(found)), why })
  }
  if (rules.length > MAX_RULES) {
    report('', rules.length, `the file has more than ${MAX_RULES} rules; the rules after these are ignored`)
  }
  for (const [index, value] of rules.slice(0, MAX_RULES).entries()) {
    const rule = ruleOf(value, index + 1, report)
    if (rule !== undefined) parsed.push(rule)
  }
  return { isReadable: true, rules: parsed, problems }
}

/**
 * Returns the rule of a file that decides about a URL: the first one, in the order of the file,
 * whose location matches path and query. `*` and a final `$` are special as in robots.txt (RFC 9309
 * §2.2.3). Returns undefined if no rule matches: the file then says nothing about the URL. Returns
 * undefined for an invalid URL, too.
 *
 * @param url A URL of the origin of the file, or a path that begins with one `/`.
 * @throws {OptionError} if `url` is neither a string nor an object with `href`.
 */
export function reservationIn(file: TdmrepFile, url: UrlInput): TdmrepRule | undefined {
  const sent = sentUrlOf(url, 'rfc9309', true)
  if (typeof sent === 'string') return undefined
  const { path } = workspace
  path.setPath(sent.path, 'rfc9309')
  return file.rules.find(({ location }) => {
    const form = patternForm(location)
    return matchesWildcards(path, form, 0, form.length)
  })
}

/**
 * What TDMRep says about one URL. JSON-safe.
 * @inline
 */
export interface TdmrepAnswer {
  /** The statement that decides; an empty list if no place has a valid reservation. */
  readonly statements: readonly Statement[]
  /**
   * The statements of the places that come before it, latest place first. A later place replaces
   * them, whether they say the same or not.
   */
  readonly overridden: readonly Statement[]
  /**
   * The URL of the policy, as written: where to learn on what terms mining is possible. Undefined
   * unless the rights are reserved.
   */
  readonly policy: string | undefined
  /** Where the policy was found. */
  readonly policySource: UsageSource | undefined
  /** What was ignored in the file, the headers and the page, and why. */
  readonly problems: readonly UsageProblem[]
}

/**
 * The places in which TDMRep was looked for. A place that was not looked at is undefined.
 * @inline
 */
export interface TdmrepPlaces {
  readonly url: UrlInput
  readonly file?: TdmrepSource | TdmrepFile | undefined
  /** The headers of the response for the URL. */
  readonly headers?: ResponseHeaders | undefined
  /** The head of the page, if the response is HTML. */
  readonly head?: PageHead | undefined
}

/**
 * Returns what TDMRep says about one URL. The page comes before the headers, and the headers before
 * the file.
 *
 * @throws {OptionError} if `url` is neither a string nor an object with `href`, or another value has
 * another type.
 */
export function tdmrepOf({ url, file: given, headers, head }: TdmrepPlaces): TdmrepAnswer {
  const file = given === undefined ? undefined : tdmrepFileOf(given, 'file')
  const problems = [...(file?.problems ?? [])]
  const rule = file && reservationIn(file, url)
  const places = [
    placeOf('html', (name) => metasOf(head, name), problems),
    placeOf('header', (name) => headerLines(headers, name).map(({ text }) => text), problems),
    rule && placeOfRule(rule),
  ].filter((place) => place !== undefined)
  const [decides, ...overridden] = places.flatMap(({ statement }) => statement ?? [])
  for (const slip of head?.uncounted ?? []) {
    const { name, content } = slip
    if (![tdmrepTerms.reservation, tdmrepTerms.policy].some((term) => term === name.toLowerCase())) continue
    problems.push({ source: usageSourceOf('tdmrep', 'html', name, content), why: describeRobotsProblem(slip) })
  }
  const found = places.find(({ policy }) => policy !== undefined)?.policy
  if (found !== undefined && decides === undefined) {
    problems.push({ source: found.source, why: 'a policy without a reservation says nothing' })
  }
  const policy = decides?.answer === 'disallowed' ? found : undefined
  return {
    statements: decides === undefined ? [] : [decides],
    overridden,
    policy: policy?.url,
    policySource: policy?.source,
    problems,
  }
}

/** What one place says. */
interface Place {
  readonly statement: Statement | undefined
  readonly policy: { readonly url: string; readonly source: UsageSource } | undefined
}

function placeOfRule({ location, reservation, policy }: TdmrepRule): Place {
  return {
    statement: reservation && statementOf(reservation, sourceInFile(location, reservation)),
    policy: policy === undefined ? undefined : { url: policy, source: sourceInFile(location, policy) },
  }
}

/**
 * Reads the headers or the meta elements. Adds what it ignores to `problems`.
 *
 * @param textsOf Returns the values of a name in lower case.
 */
function placeOf(
  where: 'header' | 'html',
  textsOf: (name: string) => readonly string[],
  problems: UsageProblem[],
): Place {
  const { reservation: name, policy: policyName } = tdmrepTerms
  const report = (field: string, values: readonly string[], why: string) => {
    problems.push({ source: usageSourceOf('tdmrep', where, field, values.join(', ')), why })
  }
  // A fetch joins the values of repeated headers with commas.
  const values = distinct(textsOf(name), /,/)
  const reservation = values.filter(isReservation).toSorted().at(-1)
  if (values.includes('0') && values.includes('1')) report(name, values, 'the values differ; a reservation counts')
  else if (values.some((value) => !isReservation(value))) report(name, values, NOT_A_RESERVATION)
  const urls = distinct(textsOf(policyName), /,\s+(?=[a-z][a-z\d+.-]*:)/i).filter((url) => url !== '')
  if (urls.length > 1) report(policyName, urls, 'the URLs of the policy differ, so they are ignored')
  const url = urls.length === 1 ? urls[0] : undefined
  return {
    statement: reservation && statementOf(reservation, usageSourceOf('tdmrep', where, name, reservation)),
    policy: url === undefined ? undefined : { url, source: usageSourceOf('tdmrep', where, policyName, url) },
  }
}

/** Returns the contents of the meta elements with a name, in any case. */
function metasOf(head: PageHead | undefined, name: string): readonly string[] {
  const metas = head?.metas.filter((meta) => meta.name.toLowerCase() === name) ?? []
  return metas.map(({ content }) => content)
}

const NOT_AN_ARRAY = 'the file is not an array of rules, so it is ignored'
const NOT_A_RESERVATION = 'the reservation is neither 0 nor 1, so it says nothing'

/** Returns the values in these texts, each once. @param separator What joins several values. */
function distinct(texts: readonly string[], separator: RegExp): readonly string[] {
  return [...new Set(texts.flatMap((text) => text.split(separator)).map((value) => value.trim()))]
}

function isReservation(value: unknown): value is '0' | '1' {
  return value === '0' || value === '1'
}

function statementOf(reservation: '0' | '1', source: UsageSource): Statement {
  return {
    purpose: 'text-and-data-mining',
    answer: reservation === '1' ? 'disallowed' : 'allowed',
    label: `${tdmrepTerms.reservation}: ${reservation}`,
    vocabulary: tdmrepTerms.vocabulary,
    source,
  }
}

/** Reports what is ignored. `name`: the location of the rule. `found`: the value. */
type Report = (name: string, found: unknown, why: string) => void

/** Returns a rule, or undefined if its location cannot match. */
function ruleOf(value: unknown, number: number, report: Report): TdmrepRule | undefined {
  const { location, [tdmrepTerms.reservation]: reserved, [tdmrepTerms.policy]: policy } = recordOf(value)
  if (typeof location !== 'string' || !/^[/*]/.test(location)) {
    report('', value, `rule ${number} has no location that begins with "/" or "*", so it is ignored`)
    return undefined
  }
  const text = typeof reserved === 'number' ? `${reserved}` : reserved
  const reservation = isReservation(text) ? text : undefined
  if (reservation === undefined) report(location, reserved, NOT_A_RESERVATION)
  else if (text === reserved) {
    report(location, reserved, 'the reservation is in quotation marks; it is read as a number')
  }
  const isText = typeof policy === 'string'
  if (policy !== undefined && !isText) report(location, policy, 'the policy is not a text, so it is ignored')
  return { number, location, reservation, policy: isText && policy !== '' ? policy : undefined }
}

/** Returns the members of an object; of another value, none. */
function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function unreadable(text: string, why: string): TdmrepFile {
  return { isReadable: false, rules: [], problems: [{ source: sourceInFile('', text), why }] }
}

function sourceInFile(location: string, text: string): UsageSource {
  return usageSourceOf('tdmrep', 'tdmrep.json', location, text)
}

/** Returns a value of the file as it may have been written. */
function textOfValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === undefined ? '' : JSON.stringify(value)
  return Array.isArray(value) ? 'an array' : `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'nothing'}`
}

/** Returns the text of a file without its byte order mark; undefined if the file is too large. */
function textOfFile(source: Exclude<TdmrepSource, readonly unknown[]>, option: string): string | undefined {
  if (typeof source === 'string') return source.length > MAX_FILE_BYTES ? undefined : withoutMark(source)
  if (source instanceof Uint8Array) {
    return source.length > MAX_FILE_BYTES ? undefined : withoutMark(decodeText(source))
  }
  if (typeof (source as HasBytes | undefined | null)?.bytes !== 'string') {
    throw new OptionError(
      option,
      `${describeValue(source)} is not a tdmrep.json; expected its text, such as "[]"; its bytes, a Uint8Array; or the array in it`,
    )
  }
  const { bytes, truncated } = source
  return truncated === true || bytes.length > MAX_FILE_BYTES ? undefined : withoutMark(textOf(bytes))
}

function isParsed(file: TdmrepSource | TdmrepFile): file is TdmrepFile {
  return typeof file === 'object' && file !== null && 'isReadable' in file && Array.isArray(file.rules)
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Removes a byte order mark, as a parser may (RFC 8259 §8.1). */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Returns a location in the normal form of patterns. RFC 9309 §2.2.2. */
function patternForm(location: string): Uint8Array {
  const bytes = encodeText(location)
  const out = new Uint8Array(3 * bytes.length)
  return out.subarray(0, writeNormalForm(normalForms.rfc9309.rule, bytes, 0, bytes.length, out, 0))
}
