// Applies the reader's network guard to an entry from a store or an import, which a client with
// another guard may have written.
import { isIP } from 'node:net'
import type { Attempt } from '@politely/core'
import type { Entry } from '@politely/core/engine'
import { isOwnFailure } from '@politely/core/internal'
import { isPublicName } from '../network/host-name.ts'
import { type NetworkGuard, withoutBrackets } from '../network/network-guard.ts'

/**
 * Returns whether the guard permits the requests that led to an entry, as far as their URLs show.
 * Looks up no name: where the guard requires a public address, it does not permit a private name.
 * Returns false, too, if the last attempt failed because of the client that made it: this client
 * may have another guard or transport. Without the entry, this client fetches robots.txt itself.
 */
export function permitsEntry(guard: NetworkGuard, { origin, latest, held, copy }: Entry): boolean {
  const permitsAttempt = ({ hops, url }: Attempt) =>
    permitsRequests(guard, [origin, ...hops.map((hop) => hop.url), url])
  return (
    !isOwnFailure(latest) &&
    permitsAttempt(latest) &&
    (held === undefined || permitsAttempt(held.attempt)) &&
    (copy === undefined || permitsRequests(guard, [origin, copy.url]))
  )
}

/** Returns whether the guard permits a request and its redirects, in order. */
function permitsRequests(guard: NetworkGuard, urls: readonly string[]): boolean {
  let needsPublic = false // from the first public URL on
  return urls.every((text) => {
    const url = URL.parse(text)
    if (url === null) return false
    needsPublic ||= guard.reachOf([text]) === 'public'
    const host = withoutBrackets(url.hostname)
    return !needsPublic || (isIP(host) === 0 ? isPublicName(host) : guard.refusalOfHost(host) === undefined)
  })
}
