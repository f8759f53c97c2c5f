// When to fetch a page again. It has its own entry, so that a program that only reads robots.txt does
// not load it.
export type {} from '../internal.ts' // see index.ts
export { type NextVisit, type NextVisitOptions, nextVisit, type PastVisit, type SitemapHint } from './next-visit.ts'
