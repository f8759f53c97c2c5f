// What the package uses of node:net, in runtimes without it.
import ipaddr from 'ipaddr.js'

export function isIP(text: string): 0 | 4 | 6 {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? 6 : 0
}
