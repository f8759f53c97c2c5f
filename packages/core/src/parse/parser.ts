// Parses a robots.txt file: calls a handler for each field, in the order of the file. RFC 9309 §2.1 and §2.2.1.
//
//   handler call   for                               ends the list of user-agent lines above it
//   onUserAgent    User-agent                        no
//   onRule         Allow, Disallow inside a group    yes: the next user-agent line starts another group
//   onRecord       every other field                 no, so `User-agent: a`, `Sitemap: …`, `User-agent: b` start one group
//
// The parser does not select groups and does not match paths. compile.ts does that for one crawler; records.ts collects everything.
import type { ParsingRules } from '../dialect.ts'
import { type OtherField, otherFields } from './directive.ts'
import type { LineReader } from './line-reader.ts'

/**
 * Receives the fields of a file. Each call gets the reader, positioned on the line of the field. The reader has read the key; it has read the
 * value of user-agent lines and of rules only.
 */
export interface FieldHandler {
  /** Whether the handler needs the rules of the current group. */
  readonly wantsRules: boolean
  /** Whether the handler needs fields whose key is unknown. */
  readonly wantsUnknownFields: boolean
  /**
   * Handles a user-agent line.
   *
   * @param startsGroup Whether the line starts a group. Otherwise it adds a name to the current group.
   * @param startsRun Whether the line starts a run of user-agent lines. A record such as crawl-delay applies to the run directly above it, and ends it.
   */
  onUserAgent(reader: LineReader, startsGroup: boolean, startsRun: boolean): void
  /** Handles a rule of the current group. The parser skips rules above the first user-agent line (§2.2.1). */
  onRule(allows: boolean, reader: LineReader): void
  /** Handles any other field (RFC 9309 §2.2.4). @param isInGroup Whether a group is open. */
  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void
}

/**
 * Parses the file that is open in `reader`.
 *
 * Only an `Allow` or `Disallow` line ends a list of user-agent lines. Blank lines, sitemaps and unknown fields between two user-agent lines
 * leave both in one group (google/robotstxt; this decides which crawlers are blocked in 4 % of real files). In the older dialects a blank line
 * ends the group.
 *
 * Our choice: a record about crawlers, such as crawl-delay, applies to the run of user-agent lines directly above it and to no later line.
 * Otherwise `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow down every crawler.
 */
export function parse(reader: LineReader, { groupEnd, allow }: ParsingRules, handler: FieldHandler): void {
  const { wantsUnknownFields } = handler
  // Before each line: whether a group is open, whether it has rules already, and whether the next user-agent line continues a run.
  let isInGroup = false
  let groupHasRules = false
  let isInRun = false
  while (reader.nextLine()) {
    if (groupEnd === 'blank-line' && reader.isBlankLine) isInGroup = false
    const directive = reader.readKey(wantsUnknownFields)
    if (directive === undefined) continue
    if (directive === 'user-agent') {
      const startsGroup = !isInGroup || groupHasRules
      if (startsGroup) groupHasRules = false
      isInGroup = true
      reader.readValue()
      handler.onUserAgent(reader, startsGroup, startsGroup || !isInRun)
      isInRun = true
    } else if (directive === 'disallow' || (directive === 'allow' && allow === 'rule')) {
      isInRun = false
      if (!isInGroup) continue
      groupHasRules = true
      if (!handler.wantsRules) continue
      reader.readValue()
      handler.onRule(directive === 'allow', reader)
    } else {
      const field = directive === 'allow' ? 'unknown' : directive
      if (field !== 'unknown' && otherFields[field] === 'agents-above') isInRun = false
      handler.onRecord(field, reader, isInGroup)
    }
  }
}
