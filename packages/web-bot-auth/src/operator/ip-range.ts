// IP ranges, such as 192.0.2.0/28, and some of their addresses.
import { isIP } from 'node:net'
import { firstSpecialAddresses } from '@politely/fetcher/internal'

/** A range of addresses. */
export interface IpRange {
  readonly version: 4 | 6
  readonly first: bigint
  readonly bits: number
  /** In the usual spelling (RFC 5952), with the first address. */
  readonly text: string
  /** Whether the text did not begin with the first address, such as 192.0.2.5/28. */
  readonly hasHostBits: boolean
}

/** Parses an address or a range. Returns undefined for anything else. */
export function ipRange(text: string): IpRange | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version !== 4 && version !== 6) return undefined
  const width = version === 4 ? 32 : 128
  const bits = prefix === undefined ? width : Number(prefix)
  if (bits > width) return undefined
  const value = version === 4 ? ipv4Value(address) : ipv6Value(address)
  const hostBits = BigInt(width - bits)
  const first = (value >> hostBits) << hostBits
  return { version, first, bits, text: `${addressText(version, first)}/${bits}`, hasHostBits: first !== value }
}

/**
 * Returns addresses of a range that are public if the whole range is: its first and last address,
 * and the first address of each special block that begins within the range.
 */
export function edgesOf(range: IpRange): readonly string[] {
  const last = range.first + sizeOf(range.version, range.bits)
  const inside = firstSpecialAddresses().filter((text) => {
    const { version, first } = ipRange(text) as IpRange
    return version === range.version && first >= range.first && first < last
  })
  return [addressText(range.version, range.first), addressText(range.version, last - 1n), ...inside]
}

/**
 * Returns up to `max` addresses of a range, evenly spread. Of IPv4 ranges with more than two
 * addresses, the first and the last one often have no host.
 */
export function sampleOf({ version, first, bits }: IpRange, max: number): readonly string[] {
  const size = sizeOf(version, bits)
  const edge = version === 4 && size > 2n ? 1n : 0n
  const usable = size - 2n * edge
  const count = usable < BigInt(max) ? Number(usable) : max
  return Array.from({ length: count }, (_, i) => {
    const offset = count === 1 ? 0n : (BigInt(i) * (usable - 1n)) / BigInt(count - 1)
    return addressText(version, first + edge + offset)
  })
}

function sizeOf(version: 4 | 6, bits: number): bigint {
  return 1n << BigInt((version === 4 ? 32 : 128) - bits)
}

function ipv4Value(address: string): bigint {
  return address.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

function ipv6Value(address: string): bigint {
  // The URL parser writes all eight groups in hexadecimal, apart from one `::`.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return groups.reduce((sum: bigint, group) => (sum << 16n) + BigInt(`0x${group}`), 0n)
}

function addressText(version: 4 | 6, value: bigint): string {
  const [size, count] = version === 4 ? [8n, 4] : [16n, 8]
  const parts = Array.from({ length: count }, (_, i) => (value >> (size * BigInt(count - 1 - i))) & ((1n << size) - 1n))
  if (version === 4) return parts.join('.')
  return new URL(`http://[${parts.map((part) => part.toString(16)).join(':')}]`).hostname.slice(1, -1)
}

/** Returns whether two spellings are the same address. */
export function isSameAddress(a: string, b: string): boolean {
  const [left, right] = [ipRange(a), ipRange(b)]
  return left !== undefined && left.text === right?.text
}

/** Returns the name whose PTR record has the name of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function ptrName(address: string): string {
  const { version = 4, first = 0n } = ipRange(address) ?? {}
  if (version === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  return `${[...first.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa`
}
