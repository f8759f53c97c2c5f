// The URLs in Sitemap lines. sitemaps.org asks for one absolute URL on a line; some files have
// several, or relative ones.
import { originOf } from '../url/origin.ts'
import { urlOrNull } from '../url/url-or-null.ts'

/**
 * A blank before another URL. Other blanks may be part of a URL that was not percent-encoded. This
 * is one blank, since `\s+` would take quadratic time for a long run of blanks.
 */
const BEFORE_URL = /\s(?=https?:\/\/|\/)/i

/**
 * A path without a leading slash that names a file, such as `maps/main.xml`. A dot in its first
 * segment before a slash is a host without a scheme, as in `example.com/map.xml`.
 */
const RELATIVE_FILE = /^(?:[\w-]+\/)*[\w.-]+\.\w+(?:\?\S*)?$/

/** Splits the value of a Sitemap line into its URLs, as written. */
export function splitSitemaps(value: string): readonly string[] {
  const urls = value.trim().split(BEFORE_URL)
  return urls.map((url, n) => (n < urls.length - 1 ? url.trim().replace(/[,;]$/, '') : url))
}

/**
 * Returns the absolute URLs in the values of Sitemap lines, each once, in the order of the file.
 *
 * @param origin Resolves relative URLs. If it is undefined, they are left out.
 */
export function sitemapsIn(values: readonly string[], origin: string | undefined): readonly string[] {
  const urls = values.flatMap(splitSitemaps).map((url) => absolute(url, origin))
  return [...new Set(urls.filter((url) => url !== undefined))]
}

function absolute(url: string, origin: string | undefined): string | undefined {
  if (originOf(url) !== undefined) return url
  const isRelative = url.startsWith('/') || RELATIVE_FILE.test(url)
  const resolved = isRelative && origin !== undefined ? urlOrNull(url, `${origin}/`)?.href : undefined
  return resolved !== undefined && originOf(resolved) !== undefined ? resolved : undefined
}
