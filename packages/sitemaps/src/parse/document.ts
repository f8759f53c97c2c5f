// Reads an XML file: a urlset, an index, RSS or Atom.
//
// It tracks open elements itself, in four variables. It only counts end tags, and doesn't rely on
// them. An entry begins where `url`, `sitemap`, `item` or `entry` opens. It ends at its end tag, at
// the next entry, or at the end of the file. So an unclosed element doesn't lose the rest. The
// variables are:
//
//   entry      the entry that is open
//   container  the image, video or news part of the entry that is open
//   field      the element whose text is being collected
//   root       the name of the first element, whose end tag says that the file is whole
import type { SitemapAlternate } from '../entry.ts'
import { FEED_FIELDS, FIELDS, itemOf, type Texts, URL_FIELDS } from './fields.ts'
import type { FoundEntry, Problems, SitemapFormat } from './found.ts'
import { type ElementName, Names, type Space } from './names.ts'
import { type Malformed, type TokenHandler, type TokenLimits, Tokens } from './tokens.ts'

/** Why a document is not a sitemap. */
export type NotASitemap = 'html-instead' | 'not-a-sitemap' | 'xml'

/** The limits of `DocumentParser`. */
export interface DocumentLimits extends TokenLimits {
  readonly maxItemsPerEntry: number
}

/** The name of a limit that a document reached. */
export type DocumentLimit = keyof DocumentLimits

const ROOTS: Readonly<Record<string, SitemapFormat>> = {
  urlset: 'urlset',
  sitemapindex: 'index',
  rss: 'rss',
  rdf: 'rss',
  feed: 'atom',
}
/** Bounds the texts of one entry together: so many texts of the greatest length. */
const MAX_LONG_TEXTS = 16
const HTML = new Set(['html', 'head', 'body', '!doctype'])
/** A `<`, or an `&` that does not begin an entity with a name. */
const RAW = /<|&(?![a-z][\w.-]{0,30};)/i
const MAX_BEFORE = 200

interface OpenEntry {
  readonly kind: FoundEntry['kind']
  readonly texts: Texts
  /** The URLs after the first. */
  readonly moreLocs: string[]
  readonly items: Partial<Record<'alternates' | 'images' | 'video', object[]>> & { news?: object }
}

interface OpenField {
  /** The name as written, with its prefix. */
  readonly name: string
  readonly local: string
  readonly texts: Texts
  /** The name of an element inside the field whose tags are ignored, as in `<loc><url>…</url></loc>`. */
  wrapper: string | undefined
}

/** Parses a document that comes in pieces. */
export class DocumentParser implements TokenHandler {
  /** What was found since the caller last emptied the list. */
  readonly found: FoundEntry[] = []
  /** The limits that cut something. */
  readonly reached: Set<DocumentLimit> = new Set()
  format: SitemapFormat | undefined
  /** Set if the document is not a sitemap. The rest is not read. */
  problem: NotASitemap | undefined
  /** Whether the root element was closed. */
  isWhole = false
  readonly #limits: DocumentLimits
  readonly #problems: Problems
  readonly #tokens: Tokens
  readonly #names = new Names((what) => this.#problems.add('wrong-namespace', what))
  #root = ''
  /** How many elements are open, without those known as unclosed. */
  #depth = 0
  /** The text before the root. */
  #before = ''
  /** Whether declarations in a DOCTYPE precede the root. Their end looks like a text. */
  #hasSubset = false
  #entry: OpenEntry | undefined
  #container: { readonly space: 'image' | 'video' | 'news'; readonly texts: Texts } | undefined
  #field: OpenField | undefined
  #text = ''
  #isCut = false
  /** The characters of the texts of the entry. */
  #entryLength = 0

  constructor(limits: DocumentLimits, problems: Problems) {
    this.#limits = limits
    this.#problems = problems
    this.#tokens = new Tokens(this, limits)
  }

  write(piece: string): void {
    if (this.problem === undefined) this.#tokens.write(piece)
  }

  /** Ends the document. An entry counts if its URL was whole. */
  end(): void {
    this.#tokens.end()
    this.#field = undefined // its text was cut
    if (this.#entry?.texts.has('loc') !== true) this.#entry = undefined
    this.#endEntry()
    if (this.#root === '') this.problem ??= 'xml'
  }

  declaration(text: string): void {
    if (text.includes('[')) this.#hasSubset = true
    if (/^!?doctype\s+html\b/i.test(text) && this.#root === '') this.problem = 'html-instead'
  }

  tooLong(limit: 'maxTextLength' | 'maxAttributeLength'): void {
    this.#isCut = true
    this.reached.add(limit)
  }

  malformed(what: Malformed, text: string, before: string = this.#field === undefined ? '' : this.#text): void {
    if (what === 'xml') this.#addBefore()
    if (what === 'xml' || (this.format === undefined && what !== 'declaration')) return
    if (what === 'attribute' || what === 'declaration') this.#problems.add('bad-attribute', text)
    else if (RAW.test(text)) this.#problems.add('unescaped', before + text)
    else if (what === 'text' && !URL_FIELDS.has(this.#field?.local ?? '')) this.#problems.add('unknown-entity', text)
  }

  open(name: string, attributes: ReadonlyMap<string, string>, declares: boolean): void {
    if (this.problem !== undefined) return
    this.#depth++
    if (this.#root === '') {
      this.#openRoot(name, attributes)
      return
    }
    if (this.isWhole && this.#depth === 1) this.#problems.add('after-xml', `<${name}>`)
    if (declares) this.#names.declare(attributes)
    const element = this.#names.resolve(name)
    if (this.#isEntry(element)) {
      if (this.#field?.local === 'loc' && this.#text.trim() === '') {
        this.#field.wrapper = name
        return
      }
      if (this.#entry !== undefined) this.#addUnclosed()
      this.#endEntry()
      this.#beginEntry(element.local === 'sitemap' ? 'sitemap' : 'entry')
    } else if (this.format === 'urlset' || this.format === 'index') this.#openInSitemap(name, element, attributes)
    else this.#openInFeed(name, element, attributes)
  }

  text(part: string): void {
    if (this.#field === undefined) {
      if (this.#root === '' && !this.#hasSubset) this.#before = (this.#before + part).slice(0, MAX_BEFORE)
      else if (this.isWhole && part.trim() !== '') this.#problems.add('after-xml', part.trim())
      return
    }
    if (this.#isCut) return
    const room = this.#limits.maxTextLength - this.#text.length
    if (part.length > room) this.tooLong('maxTextLength')
    else this.#text += part
  }

  close(name: string): void {
    if (this.problem !== undefined) return
    this.#depth--
    if (name === this.#field?.name) {
      this.#endField()
      return
    }
    if (name === this.#field?.wrapper) {
      this.#field.wrapper = undefined
      return
    }
    const element = this.#names.resolve(name)
    if (this.#container !== undefined && element.local === this.#container.space) this.#endContainer()
    else if (this.#isEntry(element)) {
      if (this.#field !== undefined) this.#addUnclosed()
      this.#endEntry()
    } else if (name === this.#root) {
      this.#endEntry()
      if (this.#depth !== 0) this.#problems.add('unclosed')
      this.#depth = 0
      this.isWhole = true
    }
  }

  #addUnclosed(): void {
    this.#problems.add('unclosed')
    this.#depth--
  }

  #openRoot(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#root = name
    this.#depth = 1
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    if (!Object.hasOwn(ROOTS, local)) {
      this.problem ??= HTML.has(local) ? 'html-instead' : 'not-a-sitemap'
      return
    }
    this.format = ROOTS[local]
    this.#names.declareRoot(name, attributes, this.format === 'urlset' || this.format === 'index')
    if (this.#before.trim() !== '') this.#addBefore()
  }

  #addBefore(): void {
    this.#problems.add('before-xml', this.#before.trim() || this.#before || undefined)
    this.#before = ''
  }

  #isEntry({ space, local }: ElementName): boolean {
    if (space !== 'sitemap') return false
    if (this.format === 'rss') return local === 'item'
    if (this.format === 'atom') return local === 'entry'
    return local === 'url' || local === 'sitemap'
  }

  #openInSitemap(name: string, element: ElementName, attributes: ReadonlyMap<string, string>): void {
    const { local } = element
    const space = element.space === 'sitemap' ? this.#spaceInside(local) : element.space
    if (local === 'link' && (space === 'xhtml' || space === 'sitemap')) {
      if (space === 'sitemap') this.#names.checkDefault(name, 'xhtml', attributes)
      this.#addAlternate(attributes)
    } else if (space === local && (space === 'image' || space === 'video' || space === 'news')) {
      if (element.space === 'sitemap') this.#names.checkDefault(name, space, attributes)
      this.#endContainer()
      this.#container = { space, texts: new Map() }
    } else if (FIELDS[space].has(local)) this.#beginField(name, local, this.#textsOf(space))
  }

  /** Returns the vocabulary of an element without a prefix: the vocabulary of its container. */
  #spaceInside(local: string): Space {
    if (local === 'image' || local === 'video' || local === 'news') return local
    const inside = this.#container?.space
    return inside !== undefined && FIELDS[inside].has(local) ? inside : 'sitemap'
  }

  /** Returns where the texts of a vocabulary go. A loc outside of an entry begins one. */
  #textsOf(space: Space): Texts {
    if (space === 'sitemap') {
      this.#endContainer()
      this.#entry ??= this.#beginEntry(this.format === 'index' ? 'sitemap' : 'entry')
      return this.#entry.texts
    }
    if (this.#container?.space !== space) {
      this.#endContainer() // such as image:loc without image:image
      this.#container = { space: space as 'image' | 'video' | 'news', texts: new Map() }
    }
    return this.#container.texts
  }

  #openInFeed(name: string, { space, local }: ElementName, attributes: ReadonlyMap<string, string>): void {
    if (this.#entry === undefined) return
    const isDublinCoreDate = name === 'dc:date'
    if (space !== 'sitemap' && !isDublinCoreDate) return
    if (local === 'link' && this.format === 'atom') {
      const href = attributes.get('href')
      const rel = attributes.get('rel') ?? 'alternate'
      if (!href || rel !== 'alternate' || this.#entry.texts.has('loc')) return
      this.#problems.checkText(href, true)
      this.#entry.texts.set('loc', href)
      return
    }
    const field = isDublinCoreDate ? 'lastmod' : FEED_FIELDS.get(local)
    if (field === undefined || (field === 'guid' && attributes.get('isPermaLink') === 'false')) return
    this.#beginField(name, field, this.#entry.texts)
  }

  #beginEntry(kind: FoundEntry['kind']): OpenEntry {
    this.#entry = { kind, texts: new Map(), moreLocs: [], items: {} }
    this.#entryLength = 0
    return this.#entry
  }

  #beginField(name: string, local: string, texts: Texts): void {
    if (this.#field !== undefined) {
      this.#addUnclosed()
      this.#endField()
    }
    this.#field = { name, local, texts, wrapper: undefined }
    this.#text = ''
    this.#isCut = false
  }

  #endField(): void {
    const field = this.#field
    if (field === undefined) return
    this.#field = undefined
    const text = this.#text.trim()
    if (text === '' || this.#isCut || !this.#hasRoomFor(text)) return
    const { local, texts } = field
    this.#problems.checkText(text, URL_FIELDS.has(local))
    if (!texts.has(local)) texts.set(local, text)
    else if (local === 'loc' && texts === this.#entry?.texts && this.#hasRoom(this.#entry.moreLocs)) {
      this.#problems.add('several-locs', text)
      this.#entry.moreLocs.push(text)
    }
  }

  #endContainer(): void {
    this.#endField()
    const container = this.#container
    this.#container = undefined
    if (container === undefined) return
    const { items } = this.#entry ?? this.#beginEntry('entry')
    const { space, texts } = container
    if (space === 'news') items.news ??= itemOf(space, texts)
    else if (space === 'video') this.#addItem(items, 'video', itemOf(space, texts))
    else if (texts.has('loc')) this.#addItem(items, 'images', itemOf(space, texts))
  }

  #addAlternate(attributes: ReadonlyMap<string, string>): void {
    if (this.#entry === undefined) return
    const href = attributes.get('href')?.trim()
    const rel = attributes.get('rel') ?? ''
    if (!href || !/\balternate\b/i.test(rel)) {
      this.#problems.add('bad-link', `rel="${rel}" href="${href ?? ''}"`)
      return
    }
    if (!this.#hasRoomFor(href)) return
    this.#problems.checkText(href, true)
    const hreflang = attributes.get('hreflang')
    const media = attributes.get('media')
    if (!hreflang && !media && !attributes.has('type')) this.#problems.add('bad-hreflang', href)
    const alternate: SitemapAlternate = { href, ...(hreflang && { hreflang }), ...(media && { media }) }
    this.#addItem(this.#entry.items, 'alternates', alternate)
  }

  #addItem(items: OpenEntry['items'], kind: 'alternates' | 'images' | 'video', item: object): void {
    items[kind] ??= []
    if (this.#hasRoom(items[kind])) items[kind].push(item)
  }

  #hasRoomFor(text: string): boolean {
    this.#entryLength += text.length
    if (this.#entryLength <= MAX_LONG_TEXTS * this.#limits.maxTextLength) return true
    this.reached.add('maxTextLength')
    return false
  }

  #hasRoom(items: readonly unknown[]): boolean {
    if (items.length < this.#limits.maxItemsPerEntry) return true
    this.reached.add('maxItemsPerEntry')
    return false
  }

  #endEntry(): void {
    this.#endContainer()
    const entry = this.#entry
    this.#entry = undefined
    if (entry === undefined) return
    const { kind, texts, moreLocs, items } = entry
    const loc = texts.get('loc') ?? texts.get('guid')
    if (loc === undefined) {
      this.#problems.add('no-loc')
      return
    }
    const lastmodText = texts.get('lastmod') ?? texts.get('published')
    const changefreq = texts.get('changefreq')
    const priority = texts.get('priority')
    const fields = {
      ...(lastmodText !== undefined && { lastmodText }),
      ...(changefreq !== undefined && { changefreq }),
      ...(priority !== undefined && { priority }),
      ...items,
    } as Partial<FoundEntry>
    this.found.push({ kind, loc, ...fields })
    for (const more of moreLocs) this.found.push({ kind, loc: more, ...fields })
  }
}
