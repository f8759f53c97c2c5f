// What the package uses of node:net, in runtimes without it.

/** @param host As `URL.hostname` gives it, an IPv6 address without its brackets. */
export function isIP(host: string): 0 | 4 | 6 {
  if (host.includes(':')) return 6
  return /^[\d.]+$/.test(host) ? 4 : 0
}
