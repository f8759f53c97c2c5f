// Displays URLs: internationalised host names, and no credentials.
import punycode from 'punycode/punycode.js'

/**
 * Returns an origin or URL with the A-labels of its host (`xn--bcher-kva`) as Unicode (`bücher`). Use the result only for display: two
 * different names may look alike, so do not fetch or compare it.
 */
export function displayUrl(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || !parsed.hostname.includes('xn--')) return url
  return url.replace(parsed.hostname, punycode.toUnicode(parsed.hostname))
}

/**
 * Returns an http, https or ftp URL without its credentials (`user:password@`), for messages and logs; any other text unchanged. The URL may begin
 * with `//`.
 */
export function withoutCredentials(url: string): string {
  const clean = url.replace(/^[\0-\x20]+|[\t\n\r]/g, '') // URL parsers ignore these
  const result = clean.replace(/^((?:https?|ftp):[/\\]*|[/\\]{2})[^/\\?#]*@/i, '$1')
  return result === clean ? url : result
}
