// Index pages: `Allow: /dir/index.html` (or `.htm`) also allows `/dir/` itself, and nothing else in it (google/robotstxt).
import { SLASH } from '../ascii.ts'
import { bytesOfLatin1 } from '../bytes.ts'

const INDEX_PAGE = bytesOfLatin1('/index.htm')

/** The end of `/dir/` in the path of an index page, which is bytes from 0 to `end`; -1 for other paths. */
export function endOfIndexFolder(path: Uint8Array, end: number): number {
  let slash = end - 1
  while (slash >= 0 && path[slash] !== SLASH) slash--
  if (slash < 0 || slash + INDEX_PAGE.length > end) return -1
  for (let i = 0; i < INDEX_PAGE.length; i++) if (path[slash + i] !== INDEX_PAGE[i]) return -1
  return slash + 1
}

/** The pattern of the folder, `/dir/$`, for a path with one character for each byte. */
export function indexFolder(path: string): string | undefined {
  const end = endOfIndexFolder(bytesOfLatin1(path), path.length)
  return end === -1 ? undefined : `${path.slice(0, end)}$`
}
