// Resolves names without DNS. Tests must not send anything to other machines.
import { BlockList, type LookupFunction } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * Creates a replacement of `dns.lookup`. It resolves `*.test` to 127.0.0.1, and the given names to
 * their loopback addresses or to an error with the given code. Any other name fails with ENOTFOUND.
 */
export function lookupIn(names: Readonly<Record<string, string | readonly string[]>> = {}): LookupFunction {
  return (host, options, callback) => {
    const found = Object.hasOwn(names, host) ? (names[host] ?? []) : host.endsWith('.test') ? '127.0.0.1' : 'ENOTFOUND'
    const addresses = (typeof found === 'string' ? [found] : found).map((address) => ({
      address,
      family: familyOf(address),
    }))
    const [first] = addresses
    // Asynchronous, like `dns.lookup`.
    queueMicrotask(() => {
      if (first === undefined || first.family === 0) {
        const code = first?.address ?? 'ENOTFOUND'
        const error = Object.assign(new Error(`lookup ${code} ${host}`), { code, syscall: 'lookup', hostname: host })
        callback(error, options.all ? [] : '', 0)
      } else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** Returns 4 or 6, or 0 for an error code. */
function familyOf(address: string): 0 | 4 | 6 {
  const family = address.includes(':') ? 6 : /^[\d.]+$/.test(address) ? 4 : 0
  if (family !== 0 && !LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')) {
    throw new Error(`${address} is not loopback; a test must not connect to it`)
  }
  return family
}
