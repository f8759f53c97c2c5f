// What the package uses of node:net, in runtimes without it.
import ipaddr from 'ipaddr.js'

export function isIP(text: string): 0 | 4 | 6 {
  if (!ipaddr.isValid(text)) return 0
  if (text.includes(':')) return 6
  return /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){3}$/.test(text) ? 4 : 0
}
