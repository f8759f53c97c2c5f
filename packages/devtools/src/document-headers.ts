// The headers of a document, changed so that the browser makes no requests for it that the DevTools protocol cannot stop (measured with
// Chromium 156).

interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/** Features that make the browser itself fetch something: FedCM, payment method manifests, ad auctions, related origins of passkeys. */
const SWITCHED_OFF = [
  'identity-credentials-get',
  'payment',
  'join-ad-interest-group',
  'run-ad-auction',
  'publickey-credentials-create',
  'publickey-credentials-get',
]

const PERMISSIONS_POLICY = {
  name: 'Permissions-Policy',
  value: SWITCHED_OFF.map((feature) => `${feature}=()`).join(', '),
}

/**
 * `speculation-rules` names files of rules, see speculation-rules.ts. The site's own `permissions-policy` is dropped and not extended:
 * browsers join both values into one, and ignore it all where the site's part cannot be parsed.
 */
const DROPPED = ['speculation-rules', 'permissions-policy']

/** The headers that a document is given. Frames inside of it inherit its policy. */
export function documentHeaders(headers: readonly HeaderEntry[]): HeaderEntry[] {
  return [...headers.filter(({ name }) => !DROPPED.includes(name.toLowerCase())), PERMISSIONS_POLICY]
}
