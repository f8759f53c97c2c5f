// Host names as people read them.
import punycode from 'punycode/punycode.js'

/**
 * An origin or URL with its host's A-labels (`xn--bcher-kva`) as Unicode (`bücher`). For people's eyes only: two different
 * names may look alike, and nothing is ever fetched or compared by this form.
 */
export function displayUrl(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || !parsed.hostname.includes('xn--')) return url
  return url.replace(parsed.hostname, punycode.toUnicode(parsed.hostname))
}
