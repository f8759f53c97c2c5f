// Classifies host names: the registrable domain of a name, and whether a name is public or private.
//
// tldts applies the Public Suffix List. Its host name validation is off: resolvers accept names that it rejects, such as `a-.example.com`,
// and each of them still belongs to a registrable domain.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parse } from 'tldts'
import { isPublicAddress } from './public-address.ts'

const PARSE_OPTIONS = { extractHostname: false, validateHostname: false, detectIp: false }

/**
 * Suffixes that are never delegated in the public DNS: the special-use names of RFC 6761, 6762 (with appendix G), 7686, 8375 and 9476, and
 * the names that ICANN reserved for private use or refused to delegate.
 */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  'alt',
  'corp',
  'example',
  'home',
  'home.arpa',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'mail',
  'onion',
  'private',
  'test',
])

/**
 * Returns the registrable domain of a URL's host: `example.co.uk` for `https://www.example.co.uk`. Counts only ICANN suffixes as public,
 * so `a.github.io` and `b.github.io` share one domain; our choice. Returns the host itself for an IPv4 address, a single label and a public
 * suffix. Returns the /64 of an IPv6 address, since one site usually has the whole block.
 */
export function registrableDomainOf(url: string): string {
  const host = new URL(url).hostname
  if (isIP(host) !== 0) return host
  if (host.startsWith('[')) return networkOf(host.slice(1, -1))
  const name = withoutTrailingDot(host)
  const { domain, publicSuffix } = parse(name, PARSE_OPTIONS)
  if (domain !== null) return domain
  return publicSuffix === name ? name : name.split('.').slice(-2).join('.')
}

/**
 * Returns whether a host name may lead to a host on the internet. Private names are only those under a suffix that is never delegated, such as
 * `localhost`, and single labels except top-level domains. Every other name is public, even if the Public Suffix List does not contain
 * its suffix.
 *
 * @param host A name as `URL.hostname` gives it; not an IP address.
 */
export function isPublicName(host: string): boolean {
  const name = withoutTrailingDot(host)
  if (PRIVATE_SUFFIXES.has(lastLabels(name, 1)) || PRIVATE_SUFFIXES.has(lastLabels(name, 2))) return false
  return name.includes('.') || parse(name, PARSE_OPTIONS).isIcann === true
}

/** Returns whether a host, as `URL.hostname` gives it, is a private name or an address that is not public. */
export function isPrivateHost(host: string): boolean {
  const address = host.startsWith('[') ? host.slice(1, -1) : host
  return isIP(address) === 0 ? !isPublicName(host) : !isPublicAddress(address, [])
}

function networkOf(ipv6: string): string {
  const address = ipaddr.process(ipv6)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

/** Removes the trailing dot of an absolute name: `example.com.` is `example.com`. */
function withoutTrailingDot(host: string): string {
  return host.replace(/\.+$/, '')
}

function lastLabels(name: string, count: number): string {
  return name.split('.').slice(-count).join('.')
}
