// Parses a whole file into groups and records: for `Robots.records` and for `lintRobots`, which
// need more than one crawler's rules.
import { type ByteRange, latin1Of, textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { type OtherField, recordAudiences } from './directive.ts'
import { LineReader } from './line-reader.ts'
import { type FieldHandler, parse } from './parser.ts'

/**
 * A field that is neither a user-agent line nor a rule, as written and decoded from UTF-8.
 * JSON-safe. RFC 9309 §2.2.4.
 */
export interface OtherRecord {
  /** The known field, or `unknown`. */
  readonly field: OtherField | 'unknown'
  /** The key as written, such as `Crawl-Delay`. */
  readonly key: string
  /** The value as written, without a comment and without blanks at its ends. */
  readonly value: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /**
   * The values of the user-agent lines that it applies to, as written: the lines directly above it.
   * Empty if it comes before all of them. Undefined for fields that apply to all crawlers (sitemap,
   * host, clean-param), for license, which RSL reads in two ways, and for unknown fields. At most
   * the first 100, because many records of a hostile file may share many user-agent lines.
   */
  readonly agents: readonly string[] | undefined
  /** How many further user-agent lines it applies to; undefined for none. */
  readonly moreAgents: number | undefined
}

const MAX_SHOWN_AGENTS = 100

// All strings below have one character for each byte.

/** A rule as written. */
export interface ParsedRule {
  readonly directive: 'allow' | 'disallow'
  /** The pattern, which may be empty. */
  readonly path: string
  readonly line: number
}

/** One or more user-agent lines and the rules that follow them. */
export interface ParsedGroup {
  /** The values of the user-agent lines. */
  readonly agents: readonly string[]
  readonly rules: readonly ParsedRule[]
  /** The number of its first user-agent line. */
  readonly line: number
}

/** A record with all its agents. Records that apply to the same lines share one array. */
export type ParsedRecord = Omit<OtherRecord, 'moreAgents'>

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
  /** Where the current run of user-agent lines starts among the agents of the last group. */
  #runStart = 0
  /** The agents of that run; undefined until a record applies to them. */
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
    const isAboutCrawlers = field !== 'unknown' && recordAudiences[field] === 'agents-above'
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

/** Decodes records from UTF-8. */
export function decodeRecords(records: readonly ParsedRecord[]): readonly OtherRecord[] {
  const shown = new Map<ParsedRecord['agents'], OtherRecord['agents']>()
  return records.map(({ field, key, value, line, agents }) => {
    if (!shown.has(agents)) shown.set(agents, agents?.slice(0, MAX_SHOWN_AGENTS).map(textOf))
    const moreAgents = agents && agents.length > MAX_SHOWN_AGENTS ? agents.length - MAX_SHOWN_AGENTS : undefined
    return { field, key: textOf(key), value: textOf(value), line, agents: shown.get(agents), moreAgents }
  })
}
