// The environment variables that name a proxy, as Node reads them with `NODE_USE_ENV_PROXY=1`.

const OF_HTTP = ['http_proxy', 'HTTP_PROXY'] as const
const OF_HTTPS = ['https_proxy', 'HTTPS_PROXY'] as const
const BY_PROTOCOL: Readonly<Record<string, readonly string[]>> = {
  'http:': OF_HTTP,
  'https:': [...OF_HTTPS, ...OF_HTTP], // without a proxy for https:, Node uses the proxy for http:
}

/**
 * Returns the name of the proxy variable for a URL, even if `NO_PROXY` excludes the host. Returns
 * undefined if none is set.
 * @param url By default, the variables for all URLs count.
 */
export function proxyVariableFor(url?: string): string | undefined {
  const names = url === undefined ? [...OF_HTTPS, ...OF_HTTP] : BY_PROTOCOL[new URL(url).protocol]
  return names?.find((name) => process.env[name]) // Node has no proxy for ftp:
}

/**
 * Returns whether `NO_PROXY` excludes a URL: it lists `*`, the host or a parent domain, each perhaps
 * with a port. `*.example.com` excludes only subdomains.
 */
export function isProxyExcluded(url: string): boolean {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return (process.env.no_proxy ?? process.env.NO_PROXY ?? '').split(/[\s,]+/).some((entry) => {
    const [, ipv6, given = ipv6 ?? '', entryPort = ownPort] = ENTRY.exec(entry.toLowerCase()) ?? []
    const name = given.replace(/^\*?\./, '')
    if (name === '' || entryPort !== ownPort) return false
    return name === '*' || host.endsWith(`.${name}`) || (host === name && !given.startsWith('*'))
  })
}

/** `[IPv6]:port`, `host:port`, or either without the port. */
const ENTRY = /^(?:\[(.+)\]|([^:]*|[^:]*:[^:]*:.*))(?::(\d+))?$/
