// The public API of `@politely/evidence`: the sinks.
export { EvidenceError } from './errors.ts'
export { evidenceFiles } from './folder.ts'
export type { Evidence } from './journal.ts'
export type { EvidenceFileOptions, EvidenceOptions } from './options.ts'
export type { DecisionRecord, EndRecord, EvidenceRecord, FileRecord, GapRecord } from './record.ts'
export { type HeadRecord, RECORD_VERSION, type ResultRecord, type StartRecord } from './record.ts'
export { type EvidenceStreamOptions, evidenceStream } from './stream.ts'
export { evidenceWarc } from './warc.ts'
