// Decides which addresses are public. The IANA registries reserve most of the others for private,
// local and special use. Clouds use some blocks outside of these registries for services that only
// their own machines can reach. Every spelling counts.
import { isIP } from 'node:net'
import { OptionError } from '@politely/core'
import ipaddr from 'ipaddr.js'
import { describeValue } from '../base/option-checks.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The addresses whose first `bits` bits equal the first bits of `first`. */
export type AddressBlock = readonly [first: Address, bits: number]

/**
 * Parses addresses and blocks such as `10.0.0.0/8`.
 * @throws {OptionError} that names `option` and the invalid item.
 */
export function addressBlocksOf(option: string, given: unknown): readonly AddressBlock[] {
  const expected = 'expected addresses and blocks such as ["10.1.2.3", "10.0.0.0/8", "fd00::/8"]'
  if (!Array.isArray(given)) throw new OptionError(option, `${describeValue(given)} is not a list; ${expected}`)
  return given.map((text: unknown) => {
    const block = typeof text === 'string' ? blockOf(text) : undefined
    if (block !== undefined) return block
    throw new OptionError(option, `${describeValue(text)} is neither an address nor a block; ${expected}`)
  })
}

/**
 * Returns whether the text is a public address, or an address in one of the allowed blocks. Ignores
 * a zone (`%eth0`). An IPv6 address that stands for an IPv4 address, mapped (`::ffff:`) or
 * translated (64:ff9b::/96, RFC 6052), counts as that IPv4 address. ipaddr.js reports every address
 * without a special range as `unicast`, but of IPv6 only 2000::/3 is public (RFC 4291 §2.4). An
 * invalid address is not public.
 */
export function isPublicAddress(text: string, allowed: readonly AddressBlock[]): boolean {
  const plain = text.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  const address = untranslated(ipaddr.process(plain))
  if (allowed.some((block) => contains(block, address))) return true
  if (address.range() !== 'unicast' || platformBlocks().some((block) => contains(block, address))) return false
  return 'octets' in address || (address.parts[0] ?? 0) >> 13 === 1
}

function contains([first, bits]: AddressBlock, address: Address): boolean {
  return first.kind() === address.kind() && address.match(first, bits)
}

function blockOf(text: string): AddressBlock | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return undefined
  const first = ipaddr.parse(address)
  const maxBits = first.kind() === 'ipv4' ? 32 : 128
  const bits = prefix === undefined ? maxBits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : maxBits + 1
  if (bits > maxBits) return undefined
  // `isPublicAddress` compares IPv4-mapped addresses as IPv4.
  return 'parts' in first && first.isIPv4MappedAddress() && bits >= 96
    ? [first.toIPv4Address(), bits - 96]
    : [first, bits]
}

/**
 * Converts a translated address to its IPv4 address. On a network without IPv4, all IPv4 sites have
 * translated addresses (NAT64).
 */
function untranslated(address: Address): Address {
  return isTranslated(address) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address
}

function isTranslated(address: Address): boolean {
  return 'parts' in address && address.parts[0] === 0x64 && address.match(ipaddr.parse('64:ff9b::'), 96)
}

/**
 * Blocks that the registries do not list, and that lead to a cloud's platform or a user's own
 * cluster. docs/fetching.md lists them too.
 */
const PLATFORM_BLOCKS = [
  // Azure: agent (WireServer), DNS.
  // https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
  '168.63.129.16',
  // Google Kubernetes Engine: default for Services.
  // https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips
  '34.118.224.0/20',
  // IBM Cloud: infrastructure and service endpoints.
  // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
  '161.26.0.0/16',
  '166.8.0.0/14',
]
/**
 * Returns the first address of each block that `isPublicAddress` treats specially. A range of
 * addresses is public if these are, as far as they are in it, and its first and last address.
 */
export function firstSpecialAddresses(): readonly string[] {
  // Types of ipaddr.js lack the table of its `range`.
  const tables = ['0.0.0.0', '::'].map((text) => {
    const address: unknown = ipaddr.parse(text)
    return (address as { readonly SpecialRanges: Readonly<Record<string, readonly unknown[]>> }).SpecialRanges
  })
  // A name has one block, or a list of blocks.
  const blocks = tables.flatMap(Object.values).flatMap((entry) => (Array.isArray(entry[0]) ? entry : [entry]))
  const special = [...(blocks as readonly AddressBlock[]), ...platformBlocks()].map(([first]) => first.toString())
  return [...special, '4000::']
}

let parsedBlocks: readonly AddressBlock[] | undefined

/** Parses `PLATFORM_BLOCKS` when they are first needed, so that importing this package is faster. */
function platformBlocks(): readonly AddressBlock[] {
  parsedBlocks ??= addressBlocksOf('PLATFORM_BLOCKS', PLATFORM_BLOCKS)
  return parsedBlocks
}
