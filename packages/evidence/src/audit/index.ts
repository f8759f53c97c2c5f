// The public API of `@politely/evidence/audit`: reads what the sinks have written.
export { RECORD_VERSION } from '../record.ts'
export type { NotReplayable, WhatIf } from './decision.ts'
export { type EvidenceExplanation, explain } from './explain.ts'
export {
  EvidenceFolder,
  type EvidenceItem,
  type Link,
  type Place,
  type ProblemItem,
  type RecordItem,
  readEvidence,
} from './read.ts'
export {
  type Replay,
  type ReplayChange,
  type ReplayDifference,
  type ReplayedVerdict,
  type ReplayOptions,
  replay,
} from './replay.ts'
export { type EvidenceReport, reportEvidence } from './report.ts'
export type { ChangeFacts, Counts, ReportFacts, SiteFacts } from './report-facts.ts'
export type { RobotsFile } from './robots-files.ts'
export {
  type CheckedChain,
  type EvidenceFinding,
  type Verification,
  type VerifyOptions,
  verify,
} from './verify.ts'
