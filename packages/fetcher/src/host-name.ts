// Classifies host names: the registrable domain of a name, and whether a name is public or private.
//
// tldts applies the Public Suffix List. Its host name validation is off: resolvers accept names that it rejects, such as `a-.example.com`,
// and each of them still belongs to a registrable domain.
import { isIP } from 'node:net'
import { parse } from 'tldts'

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
 * Returns the registrable domain of an origin's host: `example.co.uk` for `https://www.example.co.uk`. Counts only ICANN suffixes as public,
 * so `a.github.io` and `b.github.io` share one domain; our choice. Returns the host itself for an IP address, a single label, and a public
 * suffix.
 */
export function registrableDomainOf(origin: string): string {
  const host = new URL(origin).hostname
  if (isAddress(host)) return host
  const name = withoutTrailingDot(host)
  const { domain, publicSuffix } = parse(name, PARSE_OPTIONS)
  if (domain !== null) return domain
  return publicSuffix === name ? name : name.split('.').slice(-2).join('.')
}

/**
 * Whether a host name may lead to any host on the internet. Private are only names under a suffix that is never delegated, such as
 * `localhost`, and single labels except top-level domains. Every other name is public, also where the Public Suffix List does not know
 * its suffix.
 *
 * @param host A name as `URL.hostname` gives it; not an IP address.
 */
export function isPublicName(host: string): boolean {
  const name = withoutTrailingDot(host)
  if (PRIVATE_SUFFIXES.has(lastLabels(name, 1)) || PRIVATE_SUFFIXES.has(lastLabels(name, 2))) return false
  return name.includes('.') || parse(name, PARSE_OPTIONS).isIcann === true
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || isIP(host) !== 0
}

/** `example.com.` is the name `example.com`, written as absolute. */
function withoutTrailingDot(host: string): string {
  return host.replace(/\.+$/, '')
}

function lastLabels(name: string, count: number): string {
  return name.split('.').slice(-count).join('.')
}
