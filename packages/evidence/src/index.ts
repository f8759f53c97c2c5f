// The public API of `@politely/evidence`: the sinks.
export type * from '@politely/fetcher/shown-types'
export { EvidenceError } from './errors.ts'
export { evidenceFiles } from './folder.ts'
export type { Evidence } from './journal.ts'
export type { EvidenceFileOptions, EvidenceOptions } from './options.ts'
export { type EvidenceStreamOptions, evidenceStream } from './stream.ts'
export { evidenceWarc } from './warc.ts'
