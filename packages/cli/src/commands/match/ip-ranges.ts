// The files of `--ranges`: the IP ranges from which operators say that their crawlers come.
import { BlockList, isIP, isIPv6 } from 'node:net'
import { findCrawler, isCrawlerName } from '@politely/core/crawlers'
import { foreignFormatOf } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { readText } from '../../input/robots-file.ts'

/** Whether a request may be of the crawler that it names: `claimed` without ranges for that crawler. */
export type IdentityClaim = 'claimed' | 'verified' | 'not-in-ranges'

/** The ranges of crawlers, by the names that `crawlerOfAgent` returns. */
export type Ranges = ReadonlyMap<string, BlockList>

const EXAMPLE = '--ranges Googlebot=googlebot.json'

/** @throws {UsageError} for a value that is not `NAME=FILE`, and for a file without ranges. */
export async function rangesOf(args: Arguments): Promise<Ranges> {
  const ranges = new Map<string, BlockList>()
  for (const given of args.all('ranges')) {
    const [, name = '', file = ''] = /^([^=]+)=(.+)$/.exec(given) ?? []
    if (!isCrawlerName(name) || name === '*')
      throw new UsageError(
        `--ranges: ${JSON.stringify(given)} is not a crawler and a file; write NAME=FILE, such as ${EXAMPLE}`,
      )
    const known = findCrawler(name)?.name ?? name
    const list = ranges.get(known) ?? new BlockList()
    const text = new TextDecoder().decode(
      await readText(file, '--ranges', 'write the name of a JSON file with prefixes'),
    )
    for (const prefix of prefixesIn(text, file)) {
      const [address = '', bits = ''] = prefix.split('/')
      list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
    }
    ranges.set(known, list)
  }
  return ranges
}

/**
 * Returns the prefixes of a file in the form that Google publishes:
 * `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}`.
 */
function prefixesIn(text: string, file: string): readonly string[] {
  const name = `--ranges: ${JSON.stringify(file)}`
  const expected = 'expected {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}, as Google publishes it'
  let list: unknown
  try {
    list = (JSON.parse(text) as { prefixes?: unknown } | null)?.prefixes
  } catch {
    throw new UsageError(
      `${name} is not JSON${foreignFormatOf(text) === 'html' ? ', but a web page' : ''}; ${expected}`,
    )
  }
  if (!Array.isArray(list) || list.length === 0) throw new UsageError(`${name} has no list "prefixes"; ${expected}`)
  return list.map((entry: { ipv4Prefix?: unknown; ipv6Prefix?: unknown } | null, i) => {
    const prefix = String(entry?.ipv4Prefix ?? entry?.ipv6Prefix)
    const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(prefix) ?? []
    const version = isIP(address)
    if (version === 0 || Number(bits) > (version === 4 ? 32 : 128))
      throw new UsageError(
        `${name}: entry ${i + 1} of "prefixes" has no valid range: ${JSON.stringify(entry)}; ${expected}`,
      )
    return prefix
  })
}

/** Returns whether the address of a request is in the ranges of its crawler. */
export function identityOf(list: BlockList, address: string): IdentityClaim {
  // Load balancers log a port; a server on an IPv6 socket logs IPv4 addresses as ::ffff:192.0.2.1.
  const text = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/^(\d+(?:\.\d+){3}):\d+$|^\[(.+)\](?::\d+)?$/, '$1$2')
  const version = isIP(text)
  if (version === 0) return 'claimed' // a host name: neither in the ranges nor outside
  return list.check(text, version === 6 ? 'ipv6' : 'ipv4') ? 'verified' : 'not-in-ranges'
}
