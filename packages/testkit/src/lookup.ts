// Names without DNS. Nothing that a test does may leave this machine.
import { BlockList, type LookupFunction } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * A `dns.lookup` that knows `*.test`, which is 127.0.0.1, and the names given: each with loopback addresses, or with the
 * error's code instead. Any other name has no address (ENOTFOUND).
 */
export function lookupIn(names: Readonly<Record<string, string | readonly string[]>> = {}): LookupFunction {
  return (host, options, callback) => {
    const found = Object.hasOwn(names, host) ? (names[host] ?? []) : host.endsWith('.test') ? '127.0.0.1' : 'ENOTFOUND'
    const addresses = (typeof found === 'string' ? [found] : found).map((address) => ({
      address,
      family: familyOf(address),
    }))
    const [first] = addresses
    // As the system does it: the answer comes later, never at once.
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

/** 4 or 6; 0 for what is no address, and so an error's code. */
function familyOf(address: string): 0 | 4 | 6 {
  const family = address.includes(':') ? 6 : /^[\d.]+$/.test(address) ? 4 : 0
  if (family !== 0 && !LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')) {
    throw new Error(`${address} is not loopback; a test must not connect to it`)
  }
  return family
}
