// Rewrites the response headers of documents. The rewritten headers keep the browser from making
// requests that the DevTools protocol cannot stop (measured with Chromium 156).
import type { HeaderEntry } from './paused-request.ts'

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
