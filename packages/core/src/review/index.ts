// What the command and the site use of core. Not public: it may change in any version.

export { nearestName } from '../edit-distance.ts'
export { KNOWN_KEYS, type KnownKey } from '../parse/directive.ts'
export { withCharacters } from '../usage/tags/references.ts'
export { COMMENT } from './access-log.ts'
export { ChangeCounter, type CrawlerChange, type LineChange } from './changes.ts'
export { type FieldsOfFile, fieldsOf } from './fields.ts'
export { applyFixes, type Fix, type FixedFile, fixesOf, fixRobots, quickFixes } from './fix.ts'
export {
  ALLOW_ADDRESS,
  Arguments,
  defaultOf,
  describeFlag,
  type Flag,
  flagHelp,
  flagText,
  HELP_FLAG,
  loadOptional,
  MIN_DELAY,
  parseOptions,
  readFlags,
  USER_AGENT,
} from './flags.ts'
export { type IgnoredFindings, ignoredFindings } from './ignored-findings.ts'
export { type LogRequest, LogRequests } from './intake/log-requests.ts'
export { formatOfName, formatOfText, type UrlFormat, urlReaderFor } from './intake/reader-for.ts'
export { MAX_ROW_LENGTH } from './intake/table-urls.ts'
export { isUrlOrPath, lacksScheme, urlIn } from './intake/url-in-text.ts'
export type { UrlInputProblem, UrlReader } from './intake/url-reader.ts'
export { describeDeviations, differences, lossOf } from './losses.ts'
export { type NearRule, nearRules } from './near-rules.ts'
export { printablePattern } from './printable-pattern.ts'
export { crawlersIn, samplePaths, sampleUrl } from './sample-paths.ts'
