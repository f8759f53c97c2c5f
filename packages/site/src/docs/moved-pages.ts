// Where pages and headings of the documentation have moved, so that old links to the site still lead to them.
// moved-pages.json has a row for each: `"old-page": "new-page#heading"` for a page that is gone, and
// `"page#old-heading": "new-page#heading"` for a heading, of a page that is gone or still exists.

import rows from './moved-pages.json' with { type: 'json' }

const moved: Readonly<Record<string, string>> = rows

/** The pages that are gone. */
export const MOVED_PAGES: readonly string[] = Object.keys(moved).filter((old) => !old.includes('#'))

/**
 * Returns where a page and its headings are now, by the old heading; the empty string stands for the page.
 * A place is an address below the root of the site, such as `browsers/#images`.
 */
export function movedFrom(page: string): Readonly<Record<string, string>> {
  const places = Object.entries(moved).flatMap(([old, place]) => {
    const [oldPage, heading = ''] = old.split('#')
    return oldPage === page ? [[heading, placeOf(place)]] : []
  })
  return Object.fromEntries(places)
}

/** Returns the address of `page#heading` below the root of the site. */
function placeOf(place: string): string {
  const [page, heading] = place.split('#')
  return heading === undefined ? `${page}/` : `${page}/#${heading}`
}
