import type { CheckedUrl, ClientVerdict } from '@politely/fetcher'

/**
 * The verdict on a URL that may be requested: robots.txt allows it, or the option `obey` says not to
 * obey the rules. It has an origin: an invalid URL is always refused.
 */
export type AllowedVerdict = ClientVerdict & CheckedUrl
