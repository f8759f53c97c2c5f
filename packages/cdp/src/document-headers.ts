// Rewrites the response headers of documents. The rewritten headers keep the browser from making
// requests that the DevTools protocol cannot stop (measured with Chromium 156).
import type { HeaderEntry, PausedRequest } from './paused-request.ts'

/**
 * Features that make the browser itself fetch something: FedCM, payment method manifests, ad
 * auctions, related origins of passkeys.
 */
const DISABLED_FEATURES = [
  'identity-credentials-get',
  'payment',
  'join-ad-interest-group',
  'run-ad-auction',
  'publickey-credentials-create',
  'publickey-credentials-get',
]

const PERMISSIONS_POLICY: HeaderEntry = {
  name: 'Permissions-Policy',
  value: DISABLED_FEATURES.map((feature) => `${feature}=()`).join(', '),
}

/**
 * Response headers that are removed. `speculation-rules` names files of rules, see
 * speculation-rules.ts. The site's own `permissions-policy` is replaced instead of extended:
 * browsers join both values into one, and ignore the joined value if the site's part cannot be
 * parsed.
 */
const REMOVED_HEADERS = ['speculation-rules', 'permissions-policy']

/** Returns the headers to give to a document. Frames inside the document inherit its policy. */
export function documentHeaders(headers: readonly HeaderEntry[]): HeaderEntry[] {
  return [...headers.filter(({ name }) => !REMOVED_HEADERS.includes(name.toLowerCase())), PERMISSIONS_POLICY]
}

// The lines of X-Robots-Tag of documents. Chromium joins them for Puppeteer, and the paused response
// has them apart.

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
