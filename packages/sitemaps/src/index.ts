// The public API of `@politely/sitemaps`.

export {
  type Access,
  type DayRange,
  type Group,
  isPolitelyError,
  OptionError,
  type RequestRate,
  type Rule,
  type UrlProblem,
} from '@politely/core'
export type { FailureReason, Hop, LooksLike, UnavailableReason } from '@politely/core/internal'
export type { ClientVerdict } from '@politely/fetcher'
export type {
  ForeignHost,
  SitemapAlternate,
  SitemapEntry,
  SitemapImage,
  SitemapNews,
  SitemapVideo,
} from './entry.ts'
export { SitemapIncompleteError } from './errors.ts'
export {
  describeFile,
  reasonMeanings,
  type SitemapFile,
  type SitemapOutcome,
  type SitemapReason,
} from './file-result.ts'
export type { LimitName, SitemapLimits } from './limits.ts'
export type { DateTrust } from './parse/date-trust.ts'
export { type ProblemCode, problemMeanings, type SitemapFormat, type SitemapProblem } from './parse/found.ts'
export { parseLastmod } from './parse/lastmod.ts'
export type { ByteSource } from './read/body-source.ts'
export type { SitemapFiles } from './read/file-results.ts'
export type { ReadSitemapsOptions, SitemapSource } from './read/options.ts'
export type { SitemapFetch, SitemapResponse } from './read/request.ts'
export type { ResumeToken, Task } from './read/resume-token.ts'
export { readSitemaps, type SitemapReading } from './read-sitemaps.ts'
