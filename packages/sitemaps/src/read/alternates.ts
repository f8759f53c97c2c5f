// The pages of an entry in other languages: makes their URLs absolute, and checks their languages.
import type { SitemapAlternate } from '../entry.ts'
import type { Problems } from '../parse/found.ts'

/** A language, a script, a region and variants. RFC 5646 §2.1, without what search engines ignore. */
const LANGUAGE_TAG = /^([a-z]{2,3})(?:-([a-z]{4}))?(?:-(?!zz)([a-z]{2}|\d{3}))?((?:-[a-z\d]{5,8}|-\d[a-z\d]{3})*)$/
/** Variants with a year, and the usual ones of the registry of IANA. It has others, for few languages. */
const VARIANTS =
  /^(?:-(?:\d[a-z\d]{3,7}|[a-z]{2,4}\d{2,4}|aranes|arevela|arevmda|ekavsk|ijekavsk|gascon|hepburn|lengadoc|monoton|nedis|njiva|osojs|oxendict|pinyin|polyton|provenc|rozaj|rumgr|scotland|scouse|solba|sursilv|sutsilv|tarask|valencia|vallader|wadegile))*$/
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
const SCRIPTS = new Intl.DisplayNames('en', { type: 'script', fallback: 'none' })
const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
/** More languages, and longer ones, are checked again each time. */
const MAX_KEPT = 1_000
const MAX_KEPT_LENGTH = 35

interface Language {
  /** The last entry with this language, and its page. */
  entry: number
  href: string
}

export class Alternates {
  /** The origin of the file, and a slash. */
  readonly #ownPrefix: string
  readonly #problems: Problems
  /** By the text as written, and in lower case. Undefined for an invalid language. */
  readonly #languages = new Map<string, Language | undefined>()
  #entries = 0

  constructor(ownPrefix: string, problems: Problems) {
    this.#ownPrefix = ownPrefix
    this.#problems = problems
  }

  /** Returns the alternates of a page with absolute URLs. An alternate without a valid URL is left out. */
  of(found: readonly SitemapAlternate[], page: string): SitemapAlternate[] {
    const list: SitemapAlternate[] = []
    const entry = ++this.#entries
    for (const alternate of found) {
      const { hreflang, media } = alternate
      const href = this.#urlOf(alternate.href, page)
      if (href === undefined) continue
      list.push(href === alternate.href ? alternate : { ...alternate, href })
      const language = hreflang === undefined ? undefined : this.#languageOf(hreflang)
      if (language === undefined || media !== undefined) continue
      if (language.entry !== entry) {
        language.entry = entry
        language.href = href
      } else if (language.href !== href)
        this.#problems.add('duplicate-hreflang', `${hreflang}: ${language.href} and ${href}`)
    }
    return list
  }

  /** The URLs of apps stay as written. A link with another scheme, such as `javascript:`, is left out. */
  #urlOf(href: string, page: string): string | undefined {
    if (href.startsWith(this.#ownPrefix)) return href
    const scheme = /^[a-z][a-z\d+.-]*:/i.exec(href)?.[0].toLowerCase()
    if (scheme !== undefined && !/^(?:https?|android-app|ios-app):$/.test(scheme)) {
      this.#problems.add('bad-link', href)
      return undefined
    }
    if (scheme !== undefined && (!/^https?:$/.test(scheme) || URL.canParse(href))) return href
    const resolved = scheme === undefined && !/^www\./i.test(href) ? URL.parse(href, page)?.href : undefined
    this.#problems.add(resolved === undefined ? 'invalid-url' : 'relative-url', href)
    return resolved
  }

  #languageOf(hreflang: string): Language | undefined {
    let language = this.#languages.get(hreflang)
    if (language === undefined && !this.#languages.has(hreflang)) {
      const tag = hreflang.toLowerCase()
      if (tag === 'x-default' || isLanguage(tag)) language = this.#languages.get(tag) ?? { entry: 0, href: '' }
      if (this.#languages.size < MAX_KEPT && hreflang.length <= MAX_KEPT_LENGTH)
        this.#languages.set(hreflang, language).set(tag, language)
    }
    if (language === undefined) this.#problems.add('bad-hreflang', hreflang)
    return language
  }
}

/** @param tag In lower case. */
function isLanguage(tag: string): boolean {
  const [, language, script, region, variants = ''] = LANGUAGE_TAG.exec(tag) ?? []
  if (language === undefined || LANGUAGES.of(language) === undefined || !VARIANTS.test(variants)) return false
  if (script !== undefined && SCRIPTS.of(`${script[0]?.toUpperCase()}${script.slice(1)}`) === undefined) return false
  if (region === undefined) return true
  const code = region.toUpperCase()
  return REGIONS.of(code) !== undefined && new Intl.Locale(`und-${code}`).region === code // `UK` becomes `GB`
}
