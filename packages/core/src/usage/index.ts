// The public API of `@politely/core/usage`: what may be done with a page, from all channels.

export type { ResponseHeaders } from '../http/header-lines.ts'
export type {} from '../index.ts' // see there
export { conflictKinds, type UsageConflict } from './conflicts.ts'
export {
  describeConflict,
  describePurpose,
  describeReading,
  describeSource,
  describeStatement,
} from './describe-usage.ts'
export { usageDocuments } from './documents.ts'
export { type Answer, type Purpose, purposes, type Statement } from './purpose.ts'
export { type LabelValues, parseContentSignal, parseContentUsage } from './robots-txt/label-values.ts'
export type { UsageLicense } from './robots-txt/licenses.ts'
export type { PolicyToken } from './robots-txt/policy-tokens.ts'
export {
  type HeadReader,
  type HeadReaderOptions,
  headReader,
  MAX_HEAD_BYTES,
  type PageHead,
  pageHeadOf,
} from './tags/page-head.ts'
export {
  type RobotsDirective,
  type RobotsDirectives,
  robotsDirectives,
  type TaggedResponse,
} from './tags/robots-directives.ts'
export type { Reading } from './tags/robots-rules.ts'
export { parseTdmrep, type TdmrepFile, tdmrepTerms } from './tdmrep.ts'
export { type PurposeUsage, type Usage, type UsageInput, usageOf } from './usage-of.ts'
