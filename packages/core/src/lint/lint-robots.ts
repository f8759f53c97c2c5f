// Finds mistakes in a robots.txt file.

import { type ByteRange, bytesOfLatin1, encodeText, type HasBytes, latin1OfSource, rangeOf, textOf } from '../bytes.ts'
import { dialectFor } from '../choose-dialect.ts'
import type { Dialect, DialectName } from '../dialect.ts'
import { OptionError } from '../errors.ts'
import { type ForeignFormat, foreignFormatOf } from '../foreign-format.ts'
import { assertKnownOptions } from '../known-options.ts'
import { LineReader } from '../parse/line-reader.ts'
import {
  isRecord,
  isRule,
  type ParsedField,
  type ParsedFile,
  type ParsedRecord,
  parseFields,
} from '../parse/records.ts'
import { assertSource } from '../parse/source.ts'
import { isProductToken } from '../parse/user-agent-name.ts'
import { type HasHref, hostOf, originOf, ownOrigin } from '../url/origin.ts'
import { type Finding, findingOf, type ReportFinding } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'
import { lintGroups } from './groups.ts'
import { lintKey } from './key.ts'
import { lintIgnoredRecords } from './known-fields.ts'
import { lintBytes, lintTruncation } from './line.ts'
import { lintLookAlikes } from './look-alike.ts'
import { lintName } from './name.ts'
import { lintNamedGroups } from './named-groups.ts'
import { isCutByComment, lintPath } from './path.ts'
import { hostWithoutWww } from './paths/meant-path.ts'
import { lintPlaceholder } from './placeholder.ts'
import { lintLicenses } from './preferences/licenses.ts'
import { lintPreferencePaths } from './preferences/preference-paths.ts'
import { lintRecord, lintRecordAgents, lintSitemapTwice, lintTimedRecords } from './record.ts'
import { lintRuleSet } from './rule-set.ts'
import { lintBingDelay, lintPageResources } from './search-engines.ts'

/** The number of bytes that crawlers must read at least. RFC 9309 §2.5. */
const READ_LIMIT_BYTES = 500 * 1024

/** Options of `lintRobots`. */
export interface LintOptions {
  /**
   * The dialect that the file is for. The file is read as these crawlers read it, and fields that
   * they ignore get a finding.
   *
   * @default 'rfc9309'
   */
  readonly dialect?: DialectName | Dialect | undefined
  /**
   * The origin of the site, as a URL: a string, or an object with `href`. Messages then contain URLs
   * of this site, not of `example.com`.
   */
  readonly origin?: string | HasHref | undefined
  /**
   * Names in robots.txt that stand for a use, and not for a crawler. They are as in `usageOf` of
   * `@politely/core/usage`. Experimental. The group for `*` is not compared with their groups,
   * which open no path to a crawler.
   *
   * @default none
   */
  readonly policyTokens?: readonly { readonly token: string }[] | undefined
}

/**
 * Returns mistakes in a robots.txt file, and lines that crawlers may read in another way than the
 * author meant, in the order of lines.
 *
 * The time is linear in the size of the file, except for one sort of the rules of each group. Each
 * check looks at one line, and at other lines only through a map.
 *
 * @param source The bytes or the text of the file; or an object with its bytes in a string, such as
 * a `Copy`.
 * @throws {OptionError} if `source` has another type, or is the URL or the name of a file; if an
 * option or the dialect is unknown; if `origin` is not an http, https or ftp URL; or if a policy token
 * is not a product token.
 */
export function lintRobots(source: Uint8Array | string | HasBytes, options: LintOptions = {}): readonly Finding[] {
  assertSource(source)
  const reader = readerOf(options)
  const { dialect, policyTokens } = reader
  const { parsing } = dialect
  const file = rangeOf(bytesOf(source))
  const text = latin1OfSource(file)
  const findings: Finding[] = []
  const report: ReportFinding = (code, place, ...write) => findings.push(findingOf(code, place, write))
  if (lintWholeFile(text, report)) {
    const parsed = parseFields(file, parsing)
    const records = parsed.fields.filter(isRecord)
    const hosts = hostsOf(records, options.origin === undefined ? undefined : reader.origin)
    lintLines(file, text, parsed, { ...reader, hosts }, report)
    const unmergedGroups = new Set(lintGroups(parsed, report))
    for (const group of parsed.groups) lintRuleSet(group, unmergedGroups.has(group), parsing, report)
    const licensed = lintLicenses(parsed, records, parsing, report)
    lintNamedGroups(parsed, unmergedGroups, licensed, dialect, policyTokens, report)
    lintPageResources(unmergedGroups, dialect, report)
    lintBingDelay(parsed, records, dialect, report)
    lintPreferencePaths(parsed, records, unmergedGroups, parsing, report)
    lintIgnoredRecords(records, dialect, report)
    lintRecordAgents(records, report)
    lintTimedRecords(records, report)
    lintSitemapTwice(records, report)
    if (parsed.fields.length === 0) report('empty-file', 0)
  }
  return findings.sort((a, b) => a.line - b.line)
}

/** Whom the file is for, and which site it is of. */
interface Reader {
  readonly dialect: Dialect
  readonly origin: string
  /** In lower case. */
  readonly policyTokens: readonly string[]
}

/** A reader that knows the file. */
interface FileReader extends Reader {
  /** The hosts of the site as far as known, as `hostWithoutWww` returns them. */
  readonly hosts: ReadonlySet<string>
}

/** Stands for the site in messages if its origin is not given. */
const EXAMPLE_ORIGIN = 'https://example.com'

function readerOf(options: LintOptions): Reader {
  assertKnownOptions(options, KNOWN_OPTIONS, '{ dialect: "google" }')
  const { dialect, origin, policyTokens = [] } = options
  if (!Array.isArray(policyTokens) || !policyTokens.every((one) => isProductToken(one?.token)))
    throw new OptionError(
      'policyTokens',
      'expected a list of objects with a product token; write [{ token: "example-training" }]',
    )
  const tokens = policyTokens.map(({ token }) => token.toLowerCase())
  return { dialect: dialectFor(dialect), origin: ownOrigin(origin ?? EXAMPLE_ORIGIN), policyTokens: tokens }
}

/** Returns the hosts of the site, as `hostWithoutWww` returns them: of its origin, or else of its sitemaps. */
function hostsOf(records: readonly ParsedRecord[], origin: string | undefined): ReadonlySet<string> {
  const urls =
    origin === undefined
      ? records.filter(({ field }) => field === 'sitemap').map(({ value }) => textOf(value))
      : [origin]
  return new Set(urls.flatMap((url) => hostWithoutWww(hostOf(originOf(url) ?? '')) || []))
}

const KNOWN_OPTIONS: Readonly<Record<keyof LintOptions, true>> = { dialect: true, origin: true, policyTokens: true }

function bytesOf(source: Uint8Array | string | HasBytes): Uint8Array {
  if (typeof source === 'string') return encodeText(source)
  return source instanceof Uint8Array ? source : bytesOfLatin1(source.bytes)
}

/** Checks each line by itself. @param text The file, one character for each byte. */
function lintLines(
  file: ByteRange,
  text: string,
  { fields }: ParsedFile,
  reader: FileReader,
  report: ReportFinding,
): void {
  let next = 0
  let lineAtLimit = 0
  const lines = new LineReader().open(file, reader.dialect.parsing.keys)
  while (lines.nextLine()) {
    lines.findLineEnd()
    const { line, lineStart, lineEnd, contentStart, contentEnd } = lines
    if (line === 1 && lineStart > 0) report(lineStart === 3 ? 'bom' : 'partial-bom', 1)
    if (lineStart <= READ_LIMIT_BYTES) lineAtLimit = line
    lintTruncation(text, lineStart, lineEnd, line, report)
    if (contentStart >= contentEnd) continue
    const field = fields[next]?.line === line ? fields[next++] : undefined
    lintContent(text.slice(contentStart, contentEnd), text.slice(lineStart, lineEnd), field, line, reader, report)
  }
  if (text.length > READ_LIMIT_BYTES) report('over-500-kib', lineAtLimit)
}

/** @param lineText The whole line, with its comment. */
function lintContent(
  content: string,
  lineText: string,
  field: ParsedField | undefined,
  line: number,
  reader: FileReader,
  report: ReportFinding,
): void {
  if (!lintBytes(content, lineText, line, report)) return
  if (lintPlaceholder(content, lineText, field, reader.origin, line, report)) return
  if (lintLookAlikes(content, line, report)) return
  if (lintKey(content, field, line, reader.dialect, report) && field !== undefined)
    lintValue(lineText, field, reader, report)
}

function lintValue(
  lineText: string,
  field: ParsedField,
  { dialect, origin, hosts }: FileReader,
  report: ReportFinding,
): void {
  const { value, line } = field
  if (field.field === 'user-agent') lintName(value, line, report)
  else if (isRule(field)) {
    if (isCutByComment(lineText)) report('fragment-in-rule', line)
    lintPath(field, dialect.parsing, hosts, report)
  } else if (isRecord(field) && field.field !== 'unknown') lintRecord(field.field, value, line, origin, report)
}

/** A text without fields gets a finding for each of its lines, which say more. */
const CODES: Readonly<Record<Exclude<ForeignFormat, 'text'>, FindingCode>> = {
  html: 'html-instead-of-robots',
  xml: 'xml-instead-of-robots',
  json: 'json-instead-of-robots',
  'utf-16': 'utf-16',
  gzip: 'binary-instead-of-robots',
  binary: 'binary-instead-of-robots',
}

/** @returns Whether to check the lines. In another format, nearly every line would be a finding. */
function lintWholeFile(bytes: string, report: ReportFinding): boolean {
  const format = foreignFormatOf(bytes)
  if (format === undefined || format === 'text') return true
  report(CODES[format], 0)
  return false
}
