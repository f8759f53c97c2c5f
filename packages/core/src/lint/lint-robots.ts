// Finds mistakes in a robots.txt file.

import { type ByteRange, bytesOfLatin1, encodeText, type HasBytes, latin1OfSource, rangeOf } from '../bytes.ts'
import { dialects } from '../dialect.ts'
import { LineReader } from '../parse/line-reader.ts'
import { parseRecords } from '../parse/records.ts'
import { assertSource } from '../parse/source.ts'
import { type Finding, findingOf, type Report } from './finding.ts'
import { type Field, type FieldLine, lintGroups } from './groups.ts'
import { lintKey } from './key.ts'
import { lintBytes, lintTruncation } from './line.ts'
import { lintName } from './name.ts'
import { isCutByComment, lintPath } from './path.ts'
import { lintRecord, lintRecordAgents, lintTimedRecords } from './record.ts'
import { lintRuleSet } from './rule-set.ts'
import { lintWholeFile } from './whole-file.ts'

/** The number of bytes that crawlers must read at least. RFC 9309 §2.5. */
const READ_LIMIT_BYTES = 500 * 1024

/**
 * Returns mistakes in a robots.txt file, and lines that crawlers may read in another way than the
 * author meant, in the order of lines. The file is parsed as in the default dialect, `rfc9309`.
 *
 * The time is linear in the size of the file, except for one sort of the rules of each group. Each
 * check looks at one line, and at other lines only through a map.
 *
 * @param source The bytes or the text of the file; or an object with its bytes in a string, such as
 * a `Copy`.
 * @throws {OptionError} if `source` has another type, or is the URL or the name of a file.
 */
export function lintRobots(source: Uint8Array | string | HasBytes): readonly Finding[] {
  assertSource(source)
  const file = rangeOf(bytesOf(source))
  const text = latin1OfSource(file)
  const findings: Finding[] = []
  const report: Report = (code, line, ...write) => findings.push(findingOf(code, line, write))
  if (lintWholeFile(text, report)) {
    const fields = lintLines(file, text, report)
    const parsed = parseRecords(file, dialects.rfc9309.parsing)
    const unmergedGroups = new Set(lintGroups(fields, parsed, report))
    for (const group of parsed.groups) lintRuleSet(group, unmergedGroups.has(group), report)
    lintRecordAgents(parsed.records, report)
    lintTimedRecords(parsed.records, report)
    if (fields.length === 0) report('empty-file', 0)
  }
  return findings.sort((a, b) => a.line - b.line)
}

function bytesOf(source: Uint8Array | string | HasBytes): Uint8Array {
  if (typeof source === 'string') return encodeText(source)
  return source instanceof Uint8Array ? source : bytesOfLatin1(source.bytes)
}

/**
 * Checks each line by itself. @param text The file, one character for each byte. @returns The
 * fields.
 */
function lintLines(file: ByteRange, text: string, report: Report): readonly FieldLine[] {
  const fields: FieldLine[] = []
  let afterBlankLine = false
  let lineAtLimit = 0
  const reader = new LineReader().open(file, 'lenient')
  while (reader.nextLine()) {
    const field = fieldOf(reader, text)
    const { line, lineStart, lineEnd, contentStart, contentEnd } = reader
    if (line === 1 && lineStart > 0) report(lineStart === 3 ? 'bom' : 'partial-bom', 1)
    if (lineStart <= READ_LIMIT_BYTES) lineAtLimit = line
    lintTruncation(text, lineStart, lineEnd, line, report)
    if (reader.isBlankLine) afterBlankLine = true
    if (contentStart >= contentEnd) continue
    const content = text.slice(contentStart, contentEnd)
    const isValueReliable = lintBytes(content, line, report) && lintKey(content, field, line, report)
    if (field === undefined) continue
    if (isValueReliable) lintValue(text.slice(lineStart, lineEnd), field, line, report)
    fields.push({ ...field, line, afterBlankLine })
    afterBlankLine = false
  }
  if (text.length > READ_LIMIT_BYTES) report('over-500-kib', lineAtLimit)
  return fields
}

function fieldOf(reader: LineReader, text: string): Field | undefined {
  const directive = reader.readKey(true)
  reader.findLineEnd()
  if (directive === undefined) return undefined
  reader.readValue()
  const { contentStart, keyEnd, valueStart, contentEnd } = reader
  return { directive, key: text.slice(contentStart, keyEnd), value: text.slice(valueStart, contentEnd) }
}

/** @param lineText The whole line, with its comment. */
function lintValue(lineText: string, { directive, value }: Field, line: number, report: Report): void {
  switch (directive) {
    case 'unknown':
      break
    case 'user-agent':
      lintName(value, line, report)
      break
    case 'allow':
    case 'disallow':
      if (isCutByComment(lineText)) report('fragment-in-rule', line)
      lintPath({ directive, path: value, line }, report)
      break
    default:
      lintRecord(directive, value, line, report)
  }
}
