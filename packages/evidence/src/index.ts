// The public API of `@politely/evidence`: the sinks.
export { EvidenceError } from './errors.ts'
export { evidenceFiles } from './files.ts'
export type { Evidence, EvidenceState } from './journal.ts'
export type { EvidenceFileOptions, EvidenceOptions } from './options.ts'
export type {
  DecisionRecord,
  EndRecord,
  EvidenceRecord,
  FileRecord,
  GapRecord,
  HeadRecord,
  ResultRecord,
  StartRecord,
} from './record.ts'
export { RECORD_VERSION } from './record.ts'
export { type EvidenceStreamOptions, evidenceStream } from './stream.ts'
export { evidenceWarc } from './warc.ts'
