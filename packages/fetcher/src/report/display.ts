// Displays internationalised host names.
import { toUnicode } from 'punycode/punycode.es6.js'

/**
 * Returns an origin or URL with the A-labels of its host (`xn--bcher-kva`) as Unicode (`bücher`).
 * Use the result only for display: two different names may look alike, so do not fetch or compare
 * it.
 */
export function displayUrl(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || !parsed.hostname.includes('xn--')) return url
  return url.replace(parsed.hostname, toUnicode(parsed.hostname))
}
