// Classifies host names: the site and the registrable domain of a name, and whether a name is
// public or private.
//
// The Public Suffix List has two parts. Under an ICANN suffix, such as `co.uk`, a registry
// registers domains. Under a private suffix, such as `github.io`, the owner of a domain gives names
// to others. Here that domain is called a platform, and each of these names belongs to a tenant.
//
// tldts applies the Public Suffix List, with its validation of host names turned off. Resolvers
// accept names that it would reject, such as `a-.example.com`, and these still belong to a
// registrable domain.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parse } from 'tldts'
import type { Site } from '../base/site.ts'
import { isPublicAddress } from './public-address.ts'

const PARSE_OPTIONS = { extractHostname: false, validateHostname: false, detectIp: false }
const SITE_OPTIONS = { ...PARSE_OPTIONS, allowPrivateDomains: true }

/**
 * Suffixes that are never delegated in the public DNS: the special-use names of RFC 6761, 6762
 * (with appendix G), 7686, 8375 and 9476, and the names that ICANN reserved for private use or
 * refused to delegate.
 */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set(
  `alt corp example home home.arpa internal intranet invalid lan local localdomain localhost mail onion private
  test`.split(/\s+/),
)

/**
 * Returns the site of a URL's host. `https://www.example.co.uk` belongs to the site
 * `example.co.uk`; `https://www.a.github.io` belongs to the site `a.github.io` of the platform
 * `github.io`.
 */
export function siteOf(url: string): Site {
  const host = new URL(url).hostname
  const address = addressBlockOf(host)
  if (address !== undefined) return { name: address, platform: undefined }
  const name = withoutTrailingDot(host)
  const { domain, publicSuffix, isPrivate } = parse(name, SITE_OPTIONS)
  if (isPrivate) return { name: domain ?? name, platform: icannDomainOf(name) }
  return { name: domain ?? withoutDomain(name, publicSuffix), platform: undefined }
}

/**
 * Returns the registrable domain of a URL's host: `example.co.uk` for `https://www.example.co.uk`.
 * Counts only ICANN suffixes as public, so `a.github.io` and `b.github.io` share one domain; our
 * choice. Returns the host itself for an IPv4 address, a single label and a public suffix. Returns
 * the /48 of an IPv6 address, since one site may have the whole block.
 */
export function registrableDomainOf(url: string): string {
  const host = new URL(url).hostname
  return addressBlockOf(host) ?? icannDomainOf(withoutTrailingDot(host))
}

/** Returns whether two URLs have different registrable domains. */
export function hasOtherDomain(url: string, other: string): boolean {
  return registrableDomainOf(url) !== registrableDomainOf(other)
}

function icannDomainOf(name: string): string {
  const { domain, publicSuffix } = parse(name, PARSE_OPTIONS)
  return domain ?? withoutDomain(name, publicSuffix)
}

/** What stands for the registrable domain of a name that has none. */
function withoutDomain(name: string, publicSuffix: string | null): string {
  return publicSuffix === name ? name : lastLabels(name, 2)
}

/**
 * Returns whether a host name may lead to a host on the internet. A name is private if its suffix
 * is never delegated, such as `localhost`, or if it is a single label other than a top-level
 * domain. Every other name is public, even if the Public Suffix List does not contain its suffix.
 *
 * @param host A name as `URL.hostname` gives it; not an IP address.
 */
export function isPublicName(host: string): boolean {
  const name = withoutTrailingDot(host)
  if (PRIVATE_SUFFIXES.has(lastLabels(name, 1)) || PRIVATE_SUFFIXES.has(lastLabels(name, 2))) return false
  return name.includes('.') || parse(name, PARSE_OPTIONS).isIcann === true
}

/**
 * Returns whether a host, as `URL.hostname` gives it, is a private name or an address that is not
 * public.
 */
export function isPrivateHost(host: string): boolean {
  const address = host.startsWith('[') ? host.slice(1, -1) : host
  return isIP(address) === 0 ? !isPublicName(host) : !isPublicAddress(address, [])
}

/**
 * Returns an IPv4 address itself, and the /48 of an IPv6 address: providers assign blocks up to
 * this size to one customer (RFC 6177). Returns undefined for a name.
 */
function addressBlockOf(host: string): string | undefined {
  if (isIP(host) !== 0) return host
  if (!host.startsWith('[')) return undefined
  const address = ipaddr.process(host.slice(1, -1))
  if ('octets' in address) return address.toString()
  return `${ipaddr.fromByteArray(address.toByteArray().fill(0, 6))}/48`
}

/** Removes the trailing dot of an absolute name: `example.com.` is `example.com`. */
function withoutTrailingDot(host: string): string {
  return host.replace(/\.+$/, '')
}

function lastLabels(name: string, count: number): string {
  return name.split('.').slice(-count).join('.')
}
