// What statuses say of a request for a page.
import type { PageOutcomeKind } from './outcome.ts'

/** The statuses that differ from the other 4xx or 5xx. */
export const STATUS_KINDS: Readonly<Record<number, PageOutcomeKind>> = {
  401: 'denied',
  402: 'payment-required',
  403: 'denied',
  407: 'connection',
  408: 'server-error', // RFC 9110 §15.5.9: the client may repeat the request on a new connection
  410: 'gone',
  421: 'server-error', // RFC 9110 §15.5.20: the same
  425: 'server-error', // RFC 8470 §5.2: the same, after the TLS handshake
  429: 'rate-limited',
  430: 'rate-limited',
  451: 'denied',
  511: 'connection', // RFC 6585 §6: not from the site
}
