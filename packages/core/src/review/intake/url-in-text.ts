// Finds the URL in a line of a list or in a cell of a table.

/** Whether a text begins as the URLs do that have a robots.txt, or as a path. */
export function isUrlOrPath(text: string): boolean {
  return text.startsWith('/') || /^(?:https?|ftp):\/\//i.test(text)
}

/** `- `, `* `, `3. `, or the count of `uniq -c`. */
const BULLET = /^(?:[-*+\u2022]|\d{1,9}[.)]?)\s+/
/** `[Title](https://example.com/ "more")` */
const MARKDOWN_LINK = /^!?\[[^\]]*\]\(\s*<?([^\s<>)]+)/
const QUOTES = /^["'`<]+|["'`>]*[,;]?$/g
/** `example.com/page`. `page.html` may be a path. */
const WITHOUT_SCHEME = /^(?:(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}|localhost)(?::\d+)?\//u

/**
 * Returns the URL or the path in a text: without the bullet of a list, quotes or a Markdown link around
 * it. Returns undefined for any other text.
 */
export function urlIn(text: string): string | undefined {
  const trimmed = text.trim()
  if (isUrlOrPath(trimmed)) return trimmed
  const item = trimmed.replace(BULLET, '')
  const bare = MARKDOWN_LINK.exec(item)?.[1] ?? item.replace(QUOTES, '')
  return isUrlOrPath(bare) ? bare : undefined
}

/** Whether a text is a URL without its scheme: an invalid URL, but meant as one. */
export function lacksScheme(text: string): boolean {
  return WITHOUT_SCHEME.test(text)
}
