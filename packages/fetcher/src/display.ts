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
 * Returns a URL without its credentials (`user:password@`), for messages and logs; any other text unchanged. The URL may begin with `//`, or
 * with several schemes, such as `blob:https://`.
 */
export function withoutCredentials(url: string): string {
  const clean = url.replace(/^[\0-\x20\s]+|[\t\n\r]/g, '') // what URL parsers ignore, and what `trim` removes
  const result = clean.replace(CREDENTIALS, '$1')
  return result === clean ? url : result
}

/** Only these schemes need no slashes before the authority. WHATWG URL, "special scheme". */
const CREDENTIALS = /^((?:https?|ftp|wss?):[/\\]*|(?:[a-z][a-z\d+.-]*:)*[/\\]{2,})[^/\\?#]*@/i
