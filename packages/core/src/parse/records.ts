// Parses a whole file into fields and groups: for `Robots.records`, for `lintRobots`, and for all
// else that needs more than one crawler's rules.
import { type ByteRange, latin1Of, textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { type Directive, type OtherField, recordAudiences } from './directive.ts'
import { LineReader } from './line-reader.ts'
import { type FieldHandler, parse } from './parser.ts'

/**
 * A field that is neither a user-agent line nor a rule, as written and decoded from UTF-8.
 * JSON-safe. RFC 9309 §2.2.4.
 * @inline
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

/** A field of the file. Everything that looks at the lines of a robots.txt uses these. */
export interface ParsedField<F extends Directive | 'unknown' = Directive | 'unknown'> {
  /** What the key means, even if it is misspelt; `unknown` for any other key. */
  readonly field: F
  /** The key as written. Never empty. */
  readonly key: string
  /** The value as written: the name of a user-agent line, the pattern of a rule. May be empty. */
  readonly value: string
  readonly line: number
  /**
   * The index of its group in `groups`; undefined above the first group, and between groups in
   * dialects in which a blank line ends one.
   */
  readonly group: number | undefined
  /** For records about crawlers: as in `OtherRecord`, but all of them. */
  readonly agents: readonly string[] | undefined
  /** Whether a blank line precedes it, after the field before it. */
  readonly afterBlank: boolean
  /** Where the key begins. Offsets are in the bytes of the file; each end is exclusive. */
  readonly start: number
  readonly keyEnd: number
  readonly valueStart: number
  /** The end of the value. A comment may follow. */
  readonly end: number
}

/** A rule as written. */
export type ParsedRule = ParsedField<'allow' | 'disallow'>

/** A record with all its agents. Records that apply to the same lines share one array. */
export type ParsedRecord = ParsedField<OtherField | 'unknown'>

/** One or more user-agent lines and the rules that follow them. */
export interface ParsedGroup {
  /** The values of the user-agent lines. */
  readonly agents: readonly string[]
  readonly rules: readonly ParsedRule[]
  /** The number of its first user-agent line. */
  readonly line: number
}

export interface ParsedFile {
  /** Every field, in the order of the file. */
  readonly fields: readonly ParsedField[]
  readonly groups: readonly ParsedGroup[]
}

/** Parses the whole file. */
export function parseFields(file: ByteRange, parsing: ParsingRules): ParsedFile {
  const collector = new Collector(file, true)
  parse(new LineReader().open(file, parsing.keys), parsing, collector)
  return collector
}

/** Returns the records of a file alone, which takes less time. */
export function parseRecords(file: ByteRange, parsing: ParsingRules): readonly ParsedRecord[] {
  const collector = new Collector(file, false)
  parse(new LineReader().open(file, parsing.keys), parsing, collector)
  return collector.fields.filter(isRecord)
}

export function isRule(field: ParsedField): field is ParsedRule {
  return field.field === 'allow' || field.field === 'disallow'
}

/** Whether a field is neither a user-agent line nor a rule. */
export function isRecord(field: ParsedField): field is ParsedRecord {
  return field.field !== 'user-agent' && !isRule(field)
}

class Collector implements ParsedFile, FieldHandler {
  readonly fields: ParsedField[] = []
  readonly groups: { readonly agents: string[]; readonly rules: ParsedRule[]; readonly line: number }[] = []
  readonly wantsRules: boolean
  readonly wantsUnknownFields = true
  readonly #file: ByteRange
  /** Where the current run of user-agent lines starts among the agents of the last group. */
  #runStart = 0
  /** The agents of that run; undefined until a record applies to them. */
  #run: readonly string[] | undefined

  /** @param isWhole Whether to collect user-agent lines and rules too. */
  constructor(file: ByteRange, isWhole: boolean) {
    this.#file = file
    this.wantsRules = isWhole
  }

  onUserAgent(reader: LineReader, startsGroup: boolean, startsRun: boolean): void {
    if (startsGroup) this.groups.push({ agents: [], rules: [], line: reader.line })
    const agents = this.groups.at(-1)?.agents ?? []
    if (startsRun) this.#runStart = agents.length
    agents.push(this.wantsRules ? this.#add('user-agent', reader, true, undefined).value : this.#valueAt(reader))
    this.#run = undefined
  }

  onRule(allows: boolean, reader: LineReader, isInGroup: boolean): void {
    const rule = this.#add(allows ? 'allow' : 'disallow', reader, isInGroup, undefined)
    if (isInGroup) this.groups.at(-1)?.rules.push(rule)
  }

  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void {
    reader.readValue()
    const isAboutCrawlers = field !== 'unknown' && recordAudiences[field] === 'agents-above'
    this.#add(field, reader, isInGroup, isAboutCrawlers ? this.#agentsAbove(isInGroup) : undefined)
  }

  #add<F extends Directive | 'unknown'>(
    field: F,
    reader: LineReader,
    isInGroup: boolean,
    agents: readonly string[] | undefined,
  ): ParsedField<F> {
    const { line, contentStart: start, keyEnd, valueStart, contentEnd: end } = reader
    const { bytes, start: fileStart } = this.#file
    const gapStart = fileStart + (this.fields.at(-1)?.end ?? 0)
    const added: ParsedField<F> = {
      field,
      key: latin1Of(bytes.subarray(start, keyEnd)),
      value: this.#valueAt(reader),
      line,
      group: isInGroup ? this.groups.length - 1 : undefined,
      agents,
      afterBlank: this.wantsRules && BLANK_LINE.test(latin1Of(bytes.subarray(gapStart, start))),
      start: start - fileStart,
      keyEnd: keyEnd - fileStart,
      valueStart: valueStart - fileStart,
      end: end - fileStart,
    }
    this.fields.push(added)
    return added
  }

  #valueAt({ valueStart, contentEnd }: LineReader): string {
    return latin1Of(this.#file.bytes.subarray(valueStart, contentEnd))
  }

  #agentsAbove(isInGroup: boolean): readonly string[] {
    if (!isInGroup) return NO_AGENTS
    this.#run ??= this.groups.at(-1)?.agents.slice(this.#runStart) ?? NO_AGENTS
    return this.#run
  }
}

/** A line end, and a line without text below it. */
const BLANK_LINE = /(?:\r\n|\r(?!\n)|\n)[\t\v\f ]*[\r\n]/

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
