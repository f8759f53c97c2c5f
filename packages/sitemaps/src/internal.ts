// What the playground and the command use, and the types that are parts of public ones. Not
// public: it may change in any version.

export type { ForeignHost } from './entry.ts'
export { describeResult, type SitemapOutcome } from './file-result.ts'
export type { DateTrust } from './parse/date-trust.ts'
export { type DocumentUrls, documentUrls } from './parse/document-urls.ts'
export type { ProblemCode, SitemapFormat } from './parse/found.ts'
export type { Task } from './read/resume-token.ts'
