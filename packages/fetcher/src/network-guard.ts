// What a robots.txt fetch may connect to. A site's DNS and redirects are its own words: left alone, they could make the
// crawler ask its own machine, its neighbours, or a cloud's metadata service.
import { isIP, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parse } from 'tldts'
import type { buildConnector } from 'undici'

/**
 * `guarded` (the default): what comes from the public internet stays there. A public name, one whose suffix is on the ICANN
 * list, and any redirect from a public host lead to public addresses only, whatever DNS says at that moment. A private
 * address, `localhost`, or a name without a public suffix that the caller asks for itself is the caller's business.
 * `public-only`: public addresses only, whoever asks. `any`: no guard.
 */
export type NetworkPolicy = 'guarded' | 'public-only' | 'any'

/** Thrown by the connector, and turned into a verdict's reason. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
  readonly code = 'ERR_POLITELY_BLOCKED_ADDRESS'
  constructor(host: string, address: string) {
    super(`${host} is at ${address}, which is not a public address`)
  }
}

/** The addresses that a request may connect to: `public` ones, or `any`. `chain` holds the URLs so far, this one last. */
export function reachOf(policy: NetworkPolicy, chain: readonly string[]): 'public' | 'any' {
  if (policy === 'any') return 'any'
  return policy === 'public-only' || chain.some((url) => isPublicHost(hostOf(url))) ? 'public' : 'any'
}

/** Refuses a literal address before anything is sent; needed where the connection is not made by our connector. */
export function refuseLiteral(url: string): BlockedAddressError | undefined {
  const host = hostOf(url)
  return isIP(host) !== 0 && !isPublicAddress(host) ? new BlockedAddressError(host, host) : undefined
}

/**
 * The connector, but it looks at the address of the socket itself, after it is connected and before a byte is sent. A check of
 * names or of DNS answers would come too early, and undici does not look up literal addresses at all.
 */
export function publicOnlyConnector(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) => {
    // Without TLS for now; so the default port has to be named, or it would be that of http.
    const port = target.port || (target.protocol === 'https:' ? '443' : '80')
    connect({ ...target, protocol: 'http:', port }, (error, socket) => {
      if (error !== null) return callback(error, null)
      const refusal = refusalOf(target.hostname, socket)
      if (refusal !== undefined) {
        socket.destroy()
        return callback(refusal, null)
      }
      if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback)
      else callback(null, socket)
    })
  }
}

function refusalOf(host: string, socket: Socket): BlockedAddressError | undefined {
  const address = socket.remoteAddress
  if (address === undefined) return new BlockedAddressError(host, 'an unknown address')
  return isPublicAddress(address) ? undefined : new BlockedAddressError(host, address)
}

function isPublicHost(host: string): boolean {
  return isIP(host) === 0 ? parse(host).isIcann === true : isPublicAddress(host)
}

/**
 * IPv4-mapped IPv6 counts as the IPv4 that it is; a zone (`%eth0`) is dropped. What the library has no name for it calls
 * unicast, but of IPv6 only 2000::/3 is public (RFC 4291 §2.4).
 */
function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''))
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || (parsed.parts[0] ?? 0) >> 13 === 1
}

/** Host of a URL; an IPv6 address without its brackets. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}
