// Reads text of an HTML page without a parser. The patterns take linear time: an element without an
// end tag ends with the page, and a tag without `>` ends before the next `<`.

/** Comments, and elements that do not show what they contain. */
const HIDDEN = /<!--.*?(?:-->|$)|<(script|style|template|svg)(?=[\s/>]).*?(?:<\/\1[^<>]*>?|$)/gis
const COMMENT = /<!--.*?(?:-->|$)/gs
const TAG = /<[^<>]*>/g

/** Returns a page without its comments, scripts, styles, templates and drawings. */
export function shownHtml(html: string): string {
  return html.replace(HIDDEN, '')
}

/** Returns a page without its comments. */
export function withoutComments(html: string): string {
  return html.replace(COMMENT, '')
}

/** Returns HTML with a space in place of each tag. */
export function withoutTags(html: string): string {
  return html.replace(TAG, ' ')
}
