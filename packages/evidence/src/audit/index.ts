// The public API of `@politely/evidence/audit`: reads what the sinks have written.
export type * from '@politely/fetcher/shown-types'
export type { DecisionRecord, EndRecord, EvidenceRecord, FileRecord, GapRecord } from '../record.ts'
export { type HeadRecord, RECORD_VERSION, type ResultRecord, type StartRecord } from '../record.ts'
export { type EvidenceExplanation, explainEvidence } from './explain.ts'
export { type EvidenceItem, readEvidence } from './read.ts'
export { type Replay, type ReplayDifference, replayEvidence } from './replay.ts'
export { type EvidenceReport, reportEvidence } from './report.ts'
export { type EvidenceFinding, type EvidenceVerification, verifyEvidence } from './verify.ts'
