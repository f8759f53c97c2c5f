// Reads text of an HTML page without a parser. The patterns take linear time: a comment or an element
// without an end ends with the page, and a tag without `>` ends before the next `<`.

/**
 * Matches comments, which may end with `--!>`, and `<!-->` is a whole one (HTML §13.2.5.43 to 51);
 * and these elements, so that no comment begins in them. Captures the name of an element.
 */
const commentsAnd = (elements: string): RegExp =>
  new RegExp(`<!--(?:-?>|.*?(?:--!?>|$))|<(${elements})(?=[\\s/>]).*?(?:</\\1[^<>]*>?|$)`, 'gis')

/** In these elements, `<!--` is text. */
const RAW_TEXT = 'script|style|title|textarea'
const COMMENTS = commentsAnd(RAW_TEXT)
const UNSEEN = commentsAnd(`${RAW_TEXT}|template|svg`)
const TAG = /<[^<>]*>/g

/** Returns a page without its comments, scripts, styles, templates and drawings. */
export function shownHtml(html: string): string {
  return html.replace(UNSEEN, (part, element = '') => (/^t(?:itle|exta)/i.test(element) ? part : ''))
}

/** Returns a page without its comments. */
export function withoutComments(html: string): string {
  return html.replace(COMMENTS, (part, element) => (element ? part : ''))
}

/** Returns HTML with a space in place of each tag. */
export function withoutTags(html: string): string {
  return html.replace(TAG, ' ')
}

/** Returns the content of each element with one of these names, which are the source of a pattern. */
export function contentsOf(html: string, names: string): readonly string[] {
  const elements = html.matchAll(new RegExp(`<(${names})(?=[\\s>])[^<>]*>(.*?)(?:</\\1|$)`, 'gis'))
  return Array.from(elements, ([, , content = '']) => content)
}
