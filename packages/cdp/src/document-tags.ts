// The lines of X-Robots-Tag of documents. Chromium joins them for Puppeteer, and the paused response
// has them apart.
import type { PausedRequest } from './paused-request.ts'

/** By `networkId`, oldest first. */
const linesOfDocuments = new Map<string, readonly string[]>()

/** Older documents are forgotten. Their pages were read long ago. Our choice. */
const MAX_DOCUMENTS = 1_000

/** Remembers the lines of a response to a document, if joined lines may mean something else. */
export function rememberRobotsTags({ networkId, responseHeaders = [] }: PausedRequest): void {
  if (networkId === undefined) return
  linesOfDocuments.delete(networkId) // of the response that has redirected here
  const lines = responseHeaders.filter(({ name }) => name.toLowerCase() === 'x-robots-tag').map(({ value }) => value)
  if (!lines.some((line) => line.includes(':')) || !lines.join().includes(',')) return
  linesOfDocuments.set(networkId, lines)
  const [oldest] = linesOfDocuments.keys()
  if (linesOfDocuments.size > MAX_DOCUMENTS && oldest !== undefined) linesOfDocuments.delete(oldest)
}

/**
 * Returns the lines of X-Robots-Tag in the last response to a request.
 * @param networkId The `id` of the HTTPRequest in Puppeteer.
 */
export function documentTagsOf(networkId: string): readonly string[] | undefined {
  return linesOfDocuments.get(networkId)
}
