// The public API of `@politely/evidence/audit`: reads what the sinks have written.
export { RECORD_VERSION } from '../record.ts'
