// Gives the elements of sitemaps and feeds their meaning, whatever prefix a file uses. Many files
// declare a wrong namespace or none, so a name alone is enough.

/** The vocabulary that an element belongs to. */
export type Space = 'sitemap' | 'image' | 'video' | 'news' | 'xhtml' | 'other'

/** A name without its prefix. */
export interface ElementName {
  readonly space: Space
  readonly local: string
}

/** A part of each namespace, which a wrong URI has too, and the namespace. Google's old one has `0.84`. */
const NAMESPACES = {
  image: ['sitemap-image', 'http://www.google.com/schemas/sitemap-image/1.1'],
  video: ['sitemap-video', 'http://www.google.com/schemas/sitemap-video/1.1'],
  news: ['sitemap-news', 'http://www.google.com/schemas/sitemap-news/0.9'],
  xhtml: ['1999/xhtml', 'http://www.w3.org/1999/xhtml'],
  sitemap: [
    'schemas/sitemap',
    'http://www.sitemaps.org/schemas/sitemap/0.9',
    'http://www.google.com/schemas/sitemap/0.84',
  ],
} as const
/** The namespaces of Google's other extensions, such as `sitemap-mobile` and `geo/schemas/sitemap`. */
const OTHER = /schemas\/sitemap-|\/(?:geo|codesearch)\/schemas\//
/** More names, and longer ones, are resolved again each time. */
const MAX_NAMES = 500
const MAX_KEPT_LENGTH = 100

/** Resolves the names of one file. */
export class Names {
  readonly #declared = new Map<string, { readonly space: Space; readonly uri: string }>()
  readonly #names = new Map<string, ElementName>()
  /** The prefixes whose namespace was checked. */
  readonly #checked = new Set<string>()
  readonly #onWrong: (what: string) => void
  #isSitemap = false

  /** @param onWrong Called for a namespace that is missing or wrong, once for each prefix. */
  constructor(onWrong: (what: string) => void) {
    this.#onWrong = onWrong
  }

  /** Reads the namespaces that the root declares. The vocabulary of the root itself is `sitemap`. */
  declareRoot(root: string, attributes: ReadonlyMap<string, string>, isSitemap: boolean): void {
    this.#isSitemap = isSitemap
    this.declare(attributes)
    const prefix = prefixOf(root)
    const uri = attributes.get(prefix === '' ? 'xmlns' : `xmlns:${prefix}`)
    if (prefix !== '' && uri !== undefined) this.#declared.set(prefix, { space: 'sitemap', uri })
    if (prefix === '' && isSitemap) this.#check(root, '', 'sitemap', uri)
    for (const name of attributes.keys()) {
      const used = prefixOf(name)
      if (used !== '' && !/^xml(?:ns)?$/.test(used)) this.#check(name, used, 'other', this.#declared.get(used)?.uri)
    }
  }

  /** Reads the namespaces that an element declares. Scopes are not kept: each counts from here on. */
  declare(attributes: ReadonlyMap<string, string>): void {
    for (const name of attributes.keys()) {
      if (!name.startsWith('xmlns:')) continue
      const prefix = name.slice('xmlns:'.length)
      const uri = attributes.get(name) ?? ''
      const isNew = this.#declared.get(prefix)?.uri !== uri
      if (!isNew || this.#declared.size >= MAX_NAMES || name.length > MAX_KEPT_LENGTH) continue
      this.#declared.set(prefix, { space: spaceOf(uri) ?? usualSpace(prefix), uri })
      this.#checked.delete(prefix)
      this.#names.clear()
    }
  }

  resolve(name: string): ElementName {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const prefix = prefixOf(name)
    const declared = this.#declared.get(prefix)
    const space = prefix === '' ? 'sitemap' : (declared?.space ?? usualSpace(prefix))
    if (prefix !== '') this.#check(name, prefix, space, declared?.uri)
    const resolved = { space, local: name.slice(name.indexOf(':') + 1).toLowerCase() }
    if (this.#names.size < MAX_NAMES && name.length <= MAX_KEPT_LENGTH) this.#names.set(name, resolved)
    return resolved
  }

  /** Checks an element without a prefix whose vocabulary is not `sitemap`: it needs its own `xmlns`. */
  checkDefault(
    name: string,
    space: 'image' | 'video' | 'news' | 'xhtml',
    attributes: ReadonlyMap<string, string>,
  ): void {
    if (spaceOf(attributes.get('xmlns') ?? '', true) !== space) this.#onWrong(`<${name}>`)
  }

  #check(name: string, prefix: string, space: Space, uri: string | undefined): void {
    const isWrong = this.#isSitemap && space !== 'other' && spaceOf(uri ?? '', true) !== space
    if ((uri !== undefined && !isWrong) || this.#checked.has(prefix)) return
    if (this.#checked.size < MAX_NAMES) this.#checked.add(prefix)
    this.#onWrong(uri === undefined ? name : `xmlns${prefix && ':'}${prefix}="${uri}"`)
  }
}

function prefixOf(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? '' : name.slice(0, colon)
}

/** @param isExact Whether the whole URI must be right. */
function spaceOf(uri: string, isExact = false): Space | undefined {
  for (const [space, [part, ...exact]] of Object.entries(NAMESPACES))
    if (isExact ? exact.some((right) => right === uri) : uri.includes(part))
      return space === 'sitemap' && OTHER.test(uri) ? 'other' : (space as Space)
  return undefined
}

function usualSpace(prefix: string): Space {
  return Object.hasOwn(NAMESPACES, prefix) ? (prefix as Space) : 'other'
}
