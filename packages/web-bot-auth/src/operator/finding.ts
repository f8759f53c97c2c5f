// What a check of an operator's side finds.

/** One finding of `checkDirectory` or `checkIdentity`. Experimental. */
export interface Finding {
  /** What was checked, such as `directory` or `DNS`. */
  readonly check: string
  readonly result: 'ok' | 'warn' | 'fail'
  /** The kind of the finding. It never changes its meaning: docs/identity.md lists the codes. */
  readonly code: FindingCode
  /** What was found. For people; it may change. */
  readonly text: string
  /** What to do. Absent if `result` is `ok`. */
  readonly remedy?: string
}

/** The codes of findings, with what they mean. Experimental. */
export const findingCodes = {
  'user-agent-ok': 'The User-Agent has the product token and the URL of the page.',
  'user-agent-without-token': 'The User-Agent does not name the crawler as its robots.txt rules do.',
  'user-agent-without-page': 'The User-Agent does not say where to read about the crawler.',
  'page-ok': 'The page is reachable, and has the product token and the contact.',
  'page-unreachable': 'No response arrived.',
  'page-status': 'The response has another status than 200.',
  'page-encoded': 'The response has a Content-Encoding that was not asked for.',
  'page-not-html': 'The response is not an HTML page.',
  'page-without-token': 'The page does not name the product token.',
  'page-without-contact': 'The page has no contact.',
  'page-without-ranges-link': 'The page has no link of the relation client-ranges.',
  'page-allowed': 'The robots.txt of the page allows it.',
  'page-disallowed': 'The robots.txt of the page keeps its readers out, or cannot be read.',
  'ranges-ok': 'The published IP ranges are the ranges of the identity file.',
  'ranges-none': 'The identity file has no IP ranges.',
  'ranges-unreachable': 'No response arrived.',
  'ranges-status': 'The response has another status than 200.',
  'ranges-encoded': 'The response has a Content-Encoding that was not asked for.',
  'ranges-not-json': 'The response is not a JSON file of prefixes.',
  'ranges-invalid': 'A prefix is not a range of addresses.',
  'ranges-private': 'A prefix has addresses that are not public.',
  'ranges-differ': 'The published ranges are not the ranges of the identity file.',
  'ranges-time': 'The creation time is missing, or in the future.',
  'dns-ok': 'PTR records lead to names that lead back.',
  'dns-without-ptr': 'An address has no PTR record.',
  'dns-not-confirmed': 'The name of a PTR record does not lead back to the address.',
  'dns-other-domain': 'The name of a PTR record is not under the host names of the identity file.',
  'dns-failed': 'The DNS server did not answer.',
  'card-ok': 'The signature agent card is published, and says what the identity file says.',
  'card-unreachable': 'No response arrived.',
  'card-status': 'The response has another status than 200.',
  'card-encoded': 'The response has a Content-Encoding that was not asked for.',
  'card-not-json': 'The response is not a JSON object.',
  'card-differs': 'The card says something else than the identity file.',
  'directory-ok': 'The key directory is reachable.',
  'directory-unreachable': 'No response arrived.',
  'directory-status': 'The response has another status than 200; a redirect is not followed.',
  'directory-encoded': 'The response has a Content-Encoding that was not asked for.',
  'directory-media-type': 'The response has another media type.',
  'directory-not-json': 'The response is not a JWK set.',
  'directory-empty': 'The key set has no key.',
  'directory-too-large': 'The key set has more bytes or keys than verifiers read.',
  'directory-private-key': 'The key set has a private key.',
  'directory-cache':
    'Cache-Control does not say for how long the key set may be kept, or not at all, or for over a day.',
  'key-ok': 'A key can be used now.',
  'key-invalid': 'A key is not an Ed25519 key, or its times are not times.',
  'key-id': 'The kid of a key is not its thumbprint.',
  'key-duplicate': 'A key is in the key set twice.',
  'key-usage': 'A key says that it is not for signatures.',
  'key-published-private': 'The private part of a key is public knowledge.',
  'key-expired': 'A key has expired.',
  'key-not-yet-valid': 'A key is not valid yet.',
  'key-missing': 'A key file of yours has a key that is not in the directory.',
  'signature-ok': 'A key has signed the directory.',
  'signature-missing': 'A key has not signed the directory.',
  'signature-malformed': 'The signature headers cannot be read.',
  'signature-not-covered': 'A signature does not cover the host, or the digest of the body.',
  'signature-wrong': 'A signature is not of this key, this host and this body.',
  'signature-expired': 'A signature has expired.',
  'signature-in-future': 'A signature was made in the future.',
  'signature-expires-soon': 'A signature ends before a cached copy of the directory does.',
  'signature-lasts-long': 'A signature is valid for over 90 days.',
  'clock-ok': 'The clocks of the servers agree with this one.',
  'clock-off': 'The clock of a server and the clock of this machine differ.',
} as const

/** A code of a finding. Experimental. */
export type FindingCode = keyof typeof findingCodes

export const ok = (check: string, code: FindingCode, text: string): Finding => ({ check, result: 'ok', code, text })
export const warn = (check: string, code: FindingCode, text: string, remedy: string): Finding => ({
  check,
  result: 'warn',
  code,
  text,
  remedy,
})
export const fail = (check: string, code: FindingCode, text: string, remedy: string): Finding => ({
  check,
  result: 'fail',
  code,
  text,
  remedy,
})

/**
 * Returns a time, given in milliseconds since 1970, for people. A stranger may have written any
 * number.
 */
export function timeText(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms / 1000} s after 1970` : date.toISOString()
}

/** Returns the beginning of a value as JSON. */
export function jsonText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 200)
  } catch {
    return 'JSON that is nested too deep to show' // JSON.parse reads it, and JSON.stringify overflows the stack
  }
}
