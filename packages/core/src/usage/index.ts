// The public API of `@politely/core/usage`: what may be done with a page, from all channels.

export { type HeaderLine, headerLines, type ResponseHeaders } from '../http/header-lines.ts'
export type {} from '../index.ts' // see engine.ts
export type { SignalUse } from '../parse/preference-labels.ts'
export type { Combination } from './combine.ts'
export { type ConflictKind, conflictKinds, type UsageConflict, type UsageReading } from './conflicts.ts'
export {
  describeConflict,
  describePurpose,
  describeReading,
  describeSource,
  describeStatement,
} from './describe-usage.ts'
export { usageDocuments } from './documents.ts'
export {
  type Answer,
  type Channel,
  type Purpose,
  purposes,
  type Statement,
  type UsageProblem,
  type UsageSource,
} from './purpose.ts'
export {
  type LabelAnswer,
  type LabelValues,
  parseContentSignal,
  parseContentUsage,
} from './robots-txt/label-values.ts'
export type { UsageLicense } from './robots-txt/licenses.ts'
export type { PolicyToken } from './robots-txt/policy-tokens.ts'
export type { UncountedMeta } from './tags/meta-slips.ts'
export {
  type HeadLicense,
  type HeadMeta,
  type HeadReader,
  type HeadReaderOptions,
  headReader,
  MAX_HEAD_BYTES,
  type PageHead,
  pageHeadOf,
} from './tags/page-head.ts'
export {
  MAX_TAG_LENGTH,
  type RobotsDirective,
  type RobotsDirectives,
  type RobotsProblem,
  type RobotsProblemReason,
  type RobotsStatement,
  robotsDirectives,
  robotsProblems,
  statementsOf,
  type TaggedResponse,
} from './tags/robots-directives.ts'
export {
  type Reading,
  type RobotsDocument,
  type RobotsDocumentKey,
  type RobotsRule,
  type RuleMeaning,
  type RuleValue,
  robotsDocuments,
  robotsRules,
} from './tags/robots-rules.ts'
export {
  parseTdmrep,
  reservationIn,
  type TdmrepAnswer,
  type TdmrepFile,
  type TdmrepPlaces,
  type TdmrepRule,
  type TdmrepSource,
  tdmrepOf,
  tdmrepTerms,
} from './tdmrep.ts'
export { type PurposeUsage, type Usage, type UsageInput, usageOf } from './usage-of.ts'
