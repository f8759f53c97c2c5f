// Which addresses are public. What the registries keep for private, local and special use is not, in whatever form it is written.
import { isIP } from 'node:net'
import { OptionError } from '@politely/core'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Addresses with the same first `bits`. */
export type AddressBlock = readonly [first: Address, bits: number]

/**
 * Reads addresses and blocks such as `10.0.0.0/8`.
 * @throws {OptionError} naming `option` and the one that is wrong.
 */
export function addressBlocksOf(option: string, given: unknown): readonly AddressBlock[] {
  const example = 'write addresses and blocks such as ["10.1.2.3", "10.0.0.0/8", "fd00::/8"]'
  if (!Array.isArray(given)) throw new OptionError(option, `must be a list; ${example}`)
  return given.map((text: unknown) => {
    const block = typeof text === 'string' ? blockOf(text) : undefined
    if (block !== undefined) return block
    const shown = typeof text === 'string' ? JSON.stringify(text) : `a value of type ${typeof text}`
    throw new OptionError(option, `${shown} is neither an address nor a block; ${example}`)
  })
}

/**
 * Is this the text of a public address, or in a block that counts as public? A zone (`%eth0`) is dropped. IPv6 that stands for
 * IPv4, mapped (`::ffff:`) or translated (64:ff9b::/96, RFC 6052), is the IPv4 that it leads to. What the library has no name
 * for it calls unicast, but of IPv6 only 2000::/3 is public (RFC 4291 §2.4). What is no address is not public either.
 */
export function isPublicAddress(text: string, allowed: readonly AddressBlock[]): boolean {
  const plain = text.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  const address = untranslated(ipaddr.process(plain))
  if (allowed.some(([first, bits]) => first.kind() === address.kind() && address.match(first, bits))) return true
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || (address.parts[0] ?? 0) >> 13 === 1
}

function blockOf(text: string): AddressBlock | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return undefined
  const first = ipaddr.parse(address)
  const most = first.kind() === 'ipv4' ? 32 : 128
  const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : most + 1
  if (bits > most) return undefined
  // Addresses are compared in the form that they stand for.
  return first instanceof ipaddr.IPv6 && first.isIPv4MappedAddress() && bits >= 96
    ? [first.toIPv4Address(), bits - 96]
    : [first, bits]
}

/** On a network without IPv4, its translator is how every IPv4 site is reached. */
function untranslated(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6) || !address.match(TRANSLATED, 96)) return address
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

const TRANSLATED = ipaddr.IPv6.parse('64:ff9b::')
