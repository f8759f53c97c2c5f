// The public API of `@politely/evidence`: the sinks.
export type * from './record.ts'
