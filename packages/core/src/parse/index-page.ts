// Index pages: `Allow: /dir/index.html` (or `.htm`) also allows `/dir/` itself, and nothing else in
// it (google/robotstxt).
import { SLASH } from '../ascii.ts'
import { bytesOfLatin1, isEqualAt } from '../bytes.ts'

const INDEX_PAGE = bytesOfLatin1('/index.htm')

/**
 * Returns the end of `/dir/` in the pattern of an index page; -1 for other patterns. The pattern is
 * the bytes from `start` to `end`.
 */
export function endOfIndexFolder(pattern: Uint8Array, start: number, end: number): number {
  let slash = end - 1
  while (slash >= start && pattern[slash] !== SLASH) slash--
  if (slash < start || slash + INDEX_PAGE.length > end) return -1
  return isEqualAt(pattern, slash, INDEX_PAGE, 0, INDEX_PAGE.length) ? slash + 1 : -1
}

/**
 * Returns the pattern of an index page's folder, `/dir/$`; undefined for other patterns. One
 * character for each byte.
 */
export function indexFolder(pattern: string): string | undefined {
  const end = endOfIndexFolder(bytesOfLatin1(pattern), 0, pattern.length)
  return end === -1 ? undefined : `${pattern.slice(0, end)}$`
}
