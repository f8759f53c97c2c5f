// What an HTML page says, as far as `check` has to find names in it. Scripts count: a page may
// write an address by a script.
import { withoutComments } from '@politely/core/internal'
import { withCharacters } from '@politely/core/review'

/** Returns a page without its comments, and with characters instead of character references. */
export function pageText(html: string): string {
  return withCharacters(withoutComments(html))
}

/** Returns whether a text has a name, not as a part of a longer word, domain or address. */
export function hasName(text: string, name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return new RegExp(`(?<![\\w.+-])${literal}(?![\\w-]|\\.\\w)`).test(text)
}
