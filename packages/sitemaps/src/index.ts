// The public API of `@politely/sitemaps`.

export { isPolitelyError, OptionError } from '@politely/core'
export type * from '@politely/fetcher/shown-types'
export type { SitemapAlternate, SitemapEntry, SitemapImage, SitemapNews, SitemapVideo } from './entry.ts'
export { SitemapIncompleteError } from './errors.ts'
export { describeFile, reasonMeanings, type SitemapFile, type SitemapReason } from './file-result.ts'
export type {} from './internal.ts' // for the types that the exported values show
export type { SitemapLimits } from './limits.ts'
export { problemMeanings, type SitemapProblem } from './parse/found.ts'
export { parseLastmod } from './parse/lastmod.ts'
export type { ByteSource } from './read/body-source.ts'
export type { SitemapFiles } from './read/file-results.ts'
export type { ReadSitemapsOptions, SitemapSource } from './read/options.ts'
export type { SitemapFetch, SitemapResponse } from './read/request.ts'
export type { ResumeToken } from './read/resume-token.ts'
export { readSitemaps, type SitemapReading } from './read-sitemaps.ts'
