// Reads text of an HTML page without a parser. The patterns take linear time: a comment or an element
// without an end ends with the page, and a tag without `>` ends before the next `<`.

/**
 * Comments, which may end with `--!>`, and `<!-->` is a whole one (HTML §13.2.5.43 to 51). And the
 * elements in which `<!--` is text, with their names.
 */
const COMMENT = /<!--(?:-?>|.*?(?:--!?>|$))|<(script|style|title|textarea)(?=[\s/>]).*?(?:<\/\1|$)/gis
/** Elements that do not show what they contain. */
const HIDDEN = /<(script|style|template|svg)(?=[\s/>]).*?(?:<\/\1[^<>]*>?|$)/gis
const TAG = /<[^<>]*>/g
const TITLE = /<title(?=[\s>])[^<>]*>(.*?)(?:<\/title|$)/is
const HEADING = /<(title|h[1-6])(?=[\s>])[^<>]*>(.*?)(?:<\/\1|$)/gis

/** Returns a page without its comments, scripts, styles, templates and drawings. */
export function shownHtml(html: string): string {
  return withoutComments(html).replace(HIDDEN, '')
}

/** Returns a page without its comments. */
export function withoutComments(html: string): string {
  return html.replace(COMMENT, (part, element) => (element ? part : ''))
}

/** Returns HTML with a space in place of each tag. */
export function withoutTags(html: string): string {
  return html.replace(TAG, ' ')
}

/** Returns the content of the title, and of each heading. */
export function headingsOf(html: string): readonly string[] {
  return Array.from(html.matchAll(HEADING), ([, , content = '']) => content)
}

/** Returns the content of the first title. */
export function titleOf(html: string): string {
  return TITLE.exec(html)?.[1] ?? ''
}

/**
 * Returns the charset that a meta element declares. The element was read as ASCII, so the page is
 * not in UTF-16, whatever it declares (HTML §13.2.3.2).
 * @param start The first 1,024 bytes, one character for each (latin1).
 */
export function charsetOfMeta(start: string): string | undefined {
  return /<meta[^<>]+?charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1]?.replace(/^utf-?16.*/i, 'utf-8')
}
