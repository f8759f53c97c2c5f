// A whole file, taken apart: for `Robots.records` and for lint, which look at more than one crawler's rules.
import { type ByteRange, latin1Of, textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { type OtherField, otherFields } from './directive.ts'
import { LineReader } from './line-reader.ts'
import { parse, type FieldHandler } from './parser.ts'

/** A rule, unchanged. Its path is bytes, one character for each, and may be empty. */
export interface ParsedRule {
  readonly directive: 'allow' | 'disallow'
  readonly path: string
  readonly line: number
}

/** One or more user-agent lines and the rules that follow them. */
export interface ParsedGroup {
  /** The values of the user-agent lines; bytes, one character for each. */
  readonly agents: readonly string[]
  readonly rules: readonly ParsedRule[]
  /** The line of the first user-agent line. */
  readonly line: number
}

/** A line that is neither a user-agent line nor a rule, taken apart and not interpreted. Bytes, one character for each. */
export interface ParsedRecord {
  /** `unknown`: a field that is not known. */
  readonly field: OtherField | 'unknown'
  /** The key as written. */
  readonly key: string
  readonly value: string
  readonly line: number
  /**
   * The user-agent values it applies to: none where it stands above them all; undefined where it is not about crawlers. Records that apply to
   * the same lines share one array.
   */
  readonly agents: readonly string[] | undefined
}

export interface ParsedFile {
  readonly groups: readonly ParsedGroup[]
  readonly records: readonly ParsedRecord[]
}

/** Parses the whole file. */
export function parseRecords(file: ByteRange, rules: ParsingRules): ParsedFile {
  const collector = new Collector(file.bytes)
  parse(new LineReader().open(file, rules.keys), rules, collector)
  return collector
}

class Collector implements ParsedFile, FieldHandler {
  readonly groups: { readonly agents: string[]; readonly rules: ParsedRule[]; readonly line: number }[] = []
  readonly records: ParsedRecord[] = []
  readonly wantsRules = true
  readonly wantsUnknownFields = true
  readonly #bytes: Uint8Array
  /** The index of the first agent of the run right above, in the last group. */
  #runStart = 0
  /** Those agents, once there is such a record. */
  #run: readonly string[] | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  onUserAgent({ line, valueStart, contentEnd }: LineReader, startsGroup: boolean, startsRun: boolean): void {
    if (startsGroup) this.groups.push({ agents: [], rules: [], line })
    const agents = this.groups.at(-1)?.agents ?? []
    if (startsRun) this.#runStart = agents.length
    agents.push(this.#slice(valueStart, contentEnd))
    this.#run = undefined
  }

  onRule(allows: boolean, { line, valueStart, contentEnd }: LineReader): void {
    const directive = allows ? 'allow' : 'disallow'
    this.groups.at(-1)?.rules.push({ directive, path: this.#slice(valueStart, contentEnd), line })
  }

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    reader.readValue()
    const { line, contentStart, keyEnd, valueStart, contentEnd } = reader
    const isAboutCrawlers = field !== 'unknown' && otherFields[field] === 'agents-above'
    this.records.push({
      field,
      key: this.#slice(contentStart, keyEnd),
      value: this.#slice(valueStart, contentEnd),
      line,
      agents: isAboutCrawlers ? this.#agentsAbove(isInGroup) : undefined,
    })
  }

  #agentsAbove(isInGroup: boolean): readonly string[] {
    if (!isInGroup) return NO_AGENTS
    this.#run ??= this.groups.at(-1)?.agents.slice(this.#runStart) ?? NO_AGENTS
    return this.#run
  }

  #slice(start: number, end: number): string {
    return latin1Of(this.#bytes.subarray(start, end))
  }
}

const NO_AGENTS: readonly string[] = []

/** A record beside the rules, unchanged, decoded from UTF-8. JSON-safe. RFC 9309 §2.2.4. */
export interface OtherRecord {
  /** Which record it is; `unknown` for a field that is not known, which is kept all the same. */
  readonly field: OtherField | 'unknown'
  /** The key as written, such as `Crawl-Delay`. */
  readonly key: string
  /** The value as written, without blanks at its ends and without a comment. */
  readonly value: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /**
   * The user-agent values that it applies to, as written: those right above it, so none where it stands above them all. Undefined for fields
   * that are for all crawlers (sitemap, host, clean-param, license) and for unknown ones.
   */
  readonly agents: readonly string[] | undefined
}

/** The records, decoded from UTF-8. */
export function decodeRecords(records: readonly ParsedRecord[]): readonly OtherRecord[] {
  const readable = new Map<ParsedRecord['agents'], OtherRecord['agents']>()
  return records.map(({ field, key, value, line, agents }) => {
    if (!readable.has(agents)) readable.set(agents, agents?.map(textOf))
    return { field, key: textOf(key), value: textOf(value), line, agents: readable.get(agents) }
  })
}
