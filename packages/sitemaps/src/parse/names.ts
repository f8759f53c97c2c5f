// Gives the elements of sitemaps and feeds their meaning, whatever prefix a file uses. Many files
// declare a wrong namespace or none, so a name alone is enough.

/** The vocabulary that an element belongs to. */
export type Space = 'sitemap' | 'image' | 'video' | 'news' | 'xhtml' | 'other'

/** A name without its prefix. */
export interface ElementName {
  readonly space: Space
  readonly local: string
}

/** A part of the URI of a namespace, and its vocabulary. The old URI of Google has `0.84`. */
const SPACES: readonly (readonly [part: string, space: Space])[] = [
  ['sitemap-image', 'image'],
  ['sitemap-video', 'video'],
  ['sitemap-news', 'news'],
  ['1999/xhtml', 'xhtml'],
  ['schemas/sitemap', 'sitemap'],
]
const USUAL_PREFIXES: Readonly<Record<string, Space>> = {
  image: 'image',
  video: 'video',
  news: 'news',
  xhtml: 'xhtml',
  sitemap: 'sitemap',
}
/** More names, and longer ones, are resolved again each time. */
const MAX_NAMES = 500
const MAX_KEPT_LENGTH = 100

/** Resolves the names of one file. */
export class Names {
  readonly #spaces = new Map<string, Space>()
  readonly #names = new Map<string, ElementName>()

  /** Reads the namespaces that the root declares. The vocabulary of the root itself is `sitemap`. */
  declare(root: string, attributes: ReadonlyMap<string, string>): void {
    this.#names.clear()
    for (const [name, uri] of attributes) {
      if (!name.startsWith('xmlns:')) continue
      const space = SPACES.find(([part]) => uri.includes(part))?.[1]
      if (space !== undefined) this.#spaces.set(name.slice('xmlns:'.length), space)
    }
    const colon = root.indexOf(':')
    if (colon !== -1) this.#spaces.set(root.slice(0, colon), 'sitemap')
  }

  resolve(name: string): ElementName {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const colon = name.indexOf(':')
    const prefix = colon === -1 ? '' : name.slice(0, colon)
    const space = prefix === '' ? 'sitemap' : (this.#spaces.get(prefix) ?? usualSpace(prefix))
    const resolved = { space, local: name.slice(colon + 1).toLowerCase() }
    if (this.#names.size < MAX_NAMES && name.length <= MAX_KEPT_LENGTH) this.#names.set(name, resolved)
    return resolved
  }
}

function usualSpace(prefix: string): Space {
  return Object.hasOwn(USUAL_PREFIXES, prefix) ? (USUAL_PREFIXES[prefix] as Space) : 'other'
}
