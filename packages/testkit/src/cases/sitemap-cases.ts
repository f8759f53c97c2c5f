// The thirty kinds of sitemaps that readers fail on, from public threads, in the likeness of real files.
import type { SitemapCase } from './sitemap-case.ts'
import { dateCases, encodingCases, hostileCases, malformedCases, namespaceCases } from './sitemap-document-cases.ts'
import { gzipCases, recursionCases, robotsCases, statusCases } from './sitemap-file-cases.ts'

/** All cases, in the order of their kinds. */
export const sitemapCases: readonly SitemapCase[] = [
  ...gzipCases,
  ...recursionCases,
  ...namespaceCases,
  ...malformedCases,
  ...encodingCases,
  ...hostileCases,
  ...dateCases,
  ...statusCases,
  ...robotsCases,
]
