// What an HTML page says, as far as `check` has to find names in it. Scripts count: a page may
// write an address by a script.

/** Returns a page without its comments, and with characters instead of character references. */
export function pageText(html: string): string {
  return withoutComments(html).replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|commat|period));?/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  commat: '@',
  period: '.',
}

/** In scripts and styles, `<!--` begins no comment. Each character is read once. */
export function withoutComments(html: string): string {
  const kept: string[] = []
  const opening = /<!--|<(script|style)\b/gi
  let start = 0
  for (let match = opening.exec(html); match !== null; match = opening.exec(html)) {
    const [, raw] = match
    const closing = raw === undefined ? /-->/g : raw.toLowerCase() === 'script' ? /<\/script/gi : /<\/style/gi
    closing.lastIndex = match.index + 2 // `<!-->` is a comment
    const end = closing.exec(html)?.index ?? -1
    if (raw === undefined) {
      kept.push(html.slice(start, match.index))
      start = end < 0 ? html.length : end + 3
    }
    if (end < 0) break
    opening.lastIndex = raw === undefined ? start : end
  }
  kept.push(html.slice(start))
  return kept.join(' ')
}

/** Returns whether a text has a name, not as a part of a longer word, domain or address. */
export function hasName(text: string, name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return new RegExp(`(?<![\\w.+-])${literal}(?![\\w-]|\\.\\w)`).test(text)
}
