// Reads a robots.txt, and calls a handler for each of its fields. RFC 9309 §2.1 and §2.2.1. It knows nothing of matching.
import type { ParsingRules } from '../dialect.ts'
import { type OtherField, otherFields } from './directive.ts'
import type { LineReader } from './line-reader.ts'

/** Receives what the parser reads, in the order of the file. The reader is on the line of the field, with its key read; and its value, if it is a name or a rule. */
export interface FieldHandler {
  /** Whether the rules of the open group are of interest. */
  readonly wantsRules: boolean
  /** Whether fields are of interest that are not known. */
  readonly wantsUnknownFields: boolean
  /**
   * A user-agent line.
   *
   * @param startsGroup Whether it begins a group. Otherwise it is one more name of the group that is open.
   * @param startsRun Whether no user-agent line stands right above it. Records such as crawl-delay apply to the run of names right above them.
   */
  onUserAgent(reader: LineReader, startsGroup: boolean, startsRun: boolean): void
  /** A rule of the open group. A rule above the first user-agent line is not reported: §2.2.1. */
  onRule(allows: boolean, reader: LineReader): void
  /** Any other field; its value is not read. RFC 9309 §2.2.4. @param isInGroup Whether a group is open. */
  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void
}

/**
 * Reads a file. Only allow and disallow end a list of user-agent lines: blank lines, sitemaps and unknown fields between two of them do not,
 * so both name one group (google/robotstxt; this decides who is blocked in 4 % of real files). In the dialects of the nineties a blank line
 * ends the group.
 *
 * Our choice: a crawl-delay, and every other record that is about crawlers, applies to the user-agent lines right above it and to no later
 * ones. Otherwise `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow every crawler down.
 *
 * @param reader With the file open.
 */
export function parse(reader: LineReader, { groupEnd, allow }: ParsingRules, handler: FieldHandler): void {
  const { wantsUnknownFields: wantsUnknown } = handler
  let isInGroup = false
  let groupHasRules = false
  let lastWasAgent = false
  while (reader.nextLine()) {
    if (groupEnd === 'blank-line' && reader.isBlankLine) isInGroup = false
    const directive = reader.readKey(wantsUnknown)
    if (directive === undefined) continue
    if (directive === 'user-agent') {
      const startsGroup = !isInGroup || groupHasRules
      if (startsGroup) groupHasRules = false
      isInGroup = true
      reader.readValue()
      handler.onUserAgent(reader, startsGroup, startsGroup || !lastWasAgent)
      lastWasAgent = true
    } else if (directive === 'disallow' || (directive === 'allow' && allow === 'rule')) {
      lastWasAgent = false
      if (!isInGroup) continue
      groupHasRules = true
      if (!handler.wantsRules) continue
      reader.readValue()
      handler.onRule(directive === 'allow', reader)
    } else {
      const field = directive === 'allow' ? 'unknown' : directive
      if (field !== 'unknown' && otherFields[field] === 'agents-above') lastWasAgent = false
      handler.onRecord(field, reader, isInGroup)
    }
  }
}
