// Parses a robots.txt file: calls a handler for each field, in the order of the file. RFC 9309 §2.1
// and §2.2.1.
//
// User-agent lines are combined in two ways. The lines of a group share the rules that follow them.
// The lines of a run share the records about crawlers that follow them, such as crawl-delay. A
// group has one or more runs.
//
//   between two user-agent lines            the second one starts
//   a rule (Allow, Disallow)                a group and a run
//   no rule, but a record about crawlers    a run, in the same group
//   neither (for example only a sitemap)    nothing: it belongs to the group and run of the first
//
// The parser doesn't select groups or match paths. rule-compiler.ts selects one crawler's groups.
// records.ts collects all fields. matcher.ts matches paths.
import type { ParsingRules } from '../dialect.ts'
import { type OtherField, recordAudiences } from './directive.ts'
import type { LineReader } from './line-reader.ts'

/**
 * Receives the fields of a file. Each call gets the reader, positioned on the line of the field.
 * For `onUserAgent` and `onRule`, the reader has read key and value. For `onRecord`, it has read
 * the key only: a handler that needs the value calls `readValue`.
 */
export interface FieldHandler {
  /**
   * Whether the handler needs the rules of the current group. May change at each user-agent line.
   */
  readonly wantsRules: boolean
  /**
   * Whether the handler needs fields whose key is unknown. If false, the parser skips most of them.
   * It still passes a key that only begins with a known key, such as `Crawl-delays`. It also passes
   * `Allow` in a dialect that has no `Allow`. The handler must ignore these fields.
   */
  readonly wantsUnknownFields: boolean
  /**
   * Handles a user-agent line.
   *
   * @param startsGroup Whether the line starts a group. Otherwise it adds a name to the current
   * group.
   * @param startsRun Whether the line starts a run. A record such as crawl-delay applies to the
   * last run above it.
   */
  onUserAgent(reader: LineReader, startsGroup: boolean, startsRun: boolean): void
  /**
   * Handles a rule. @param isInGroup Whether the rule is inside a group. Crawlers ignore rules
   * outside of one, such as rules above the first user-agent line (§2.2.2).
   */
  onRule(allows: boolean, reader: LineReader, isInGroup: boolean): void
  /**
   * Handles any other field (RFC 9309 §2.2.4). @param isInGroup Whether the field is inside a
   * group.
   */
  onRecord(field: OtherField | 'unknown', reader: LineReader, isInGroup: boolean): void
}

/**
 * Parses the file that is open in `reader`.
 *
 * Two user-agent lines are in one group unless there is a rule between them. Blank lines, sitemaps
 * and unknown fields between them make no difference. google/robotstxt does the same. In 4 % of
 * real files this decides which crawlers are blocked. In dialects with `groupEnd: 'blank-line'`, a
 * blank line ends the group too.
 *
 * Our choice: a record about crawlers, such as crawl-delay, applies to the last run above it, also
 * if rules are between them. It does not apply to user-agent lines below it. Otherwise
 * `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow down every
 * crawler. A record outside a group applies to no crawler: for example one above all user-agent
 * lines, or after a blank line that ended the group.
 */
export function parse(reader: LineReader, { groupEnd, allow }: ParsingRules, handler: FieldHandler): void {
  const { wantsUnknownFields } = handler
  // The state before each line:
  let isInGroup = false // the line is inside a group
  let groupHasRules = false // that group has a rule already
  let nextAgentJoinsRun = false // there is a user-agent line above, and neither a rule nor a record about crawlers after it
  while (reader.nextLine()) {
    if (groupEnd === 'blank-line' && reader.isBlankLine) isInGroup = false
    const directive = reader.readKey(wantsUnknownFields)
    if (directive === undefined) continue
    if (directive === 'user-agent') {
      const startsGroup = !isInGroup || groupHasRules
      if (startsGroup) groupHasRules = false
      isInGroup = true
      reader.readValue()
      handler.onUserAgent(reader, startsGroup, startsGroup || !nextAgentJoinsRun)
      nextAgentJoinsRun = true
    } else if (directive === 'disallow' || (directive === 'allow' && allow === 'rule')) {
      nextAgentJoinsRun = false
      if (isInGroup) groupHasRules = true
      if (!handler.wantsRules) continue
      reader.readValue()
      handler.onRule(directive === 'allow', reader, isInGroup)
    } else {
      const field = directive === 'allow' ? 'unknown' : directive
      if (field !== 'unknown' && recordAudiences[field] === 'agents-above') nextAgentJoinsRun = false
      handler.onRecord(field, reader, isInGroup)
    }
  }
}
