// Finds the crawler's name in a User-Agent header. RFC 9309 §2.2.1, RFC 9110 §10.1.5.
//
// A header has products, such as `ExampleBot/1.0`, and comments in parentheses, whose parts are
// separated by `;`. A crawler that looks like a browser puts its name somewhere among the words of
// browsers and systems, usually after `compatible;`. The name is never guessed: a wrong one would
// make the crawler ignore the group that names it.
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * RFC 9309 allows letters, `_` and `-`. Callers may use digits too, because 9 % of real files do.
 */
const TOKEN = /^[A-Za-z0-9_-]+$/

/** Returns whether a text is a product token: one or more of `a-z A-Z 0-9 _ -`. */
export function isProductToken(text: string): boolean {
  return typeof text === 'string' && TOKEN.test(text)
}

/**
 * Returns the product token, with digits, at the start of a user-agent line: `ExampleBot` for
 * `ExampleBot/2.1`, `archive` for `archive.org_bot`. Empty if the line begins with another
 * character.
 */
export function leadingToken(name: string): string {
  return /^[A-Za-z0-9_-]*/.exec(name)?.[0] ?? ''
}

/**
 * Returns the product token in a User-Agent header: `ExampleBot` for both
 * `ExampleBot/1.0 (+https://example.com/bot)` and
 * `Mozilla/5.0 (compatible; MSIE 9.0; ExampleBot/1.0; +https://example.com/bot)`. Words that
 * browsers and systems use, such as `Mozilla`, `Chrome` and `Linux`, are not names of crawlers.
 *
 * Returns undefined if the header has no such name, or several (`My Crawler/1.0`), or if the name
 * has other characters than letters, digits, `_` and `-`.
 *
 * @throws {OptionError} if `userAgent` is not a string.
 */
export function productTokenOf(userAgent: string): string | undefined {
  if (typeof userAgent !== 'string') {
    const problem = userAgent === undefined ? 'is missing' : `${describeValue(userAgent)} is not a string`
    throw new OptionError('userAgent', `${problem}; expected a User-Agent header such as "ExampleBot/1.0"`)
  }
  return tokenInHeader(userAgent)
}

/** `productTokenOf`, for a header that is known to be a string. */
export function tokenInHeader(userAgent: string): string | undefined {
  const part = namingPart(userAgent)
  return part === undefined ? onlyName(namesIn(userAgent)) : nameOf(part)
}

/**
 * Says why `productTokenOf` returns undefined for this header: which words it ignored, or between
 * which names it did not choose.
 */
export function explainMissingToken(userAgent: string): string {
  return `${describeValue(userAgent)} contains no clear product token: ${whyMissing(userAgent)}`
}

function whyMissing(userAgent: string): string {
  const part = namingPart(userAgent)
  if (part !== undefined) {
    const name = firstWord(part)
    if (name === '') return 'it does not begin with a name'
    if (!isProductToken(name)) {
      return `${describeValue(name)} has other characters than letters, digits, "-" and "_"`
    }
    const words = /^[^/;(),]*/.exec(part)?.[0].trim()
    return `it may be ${describeValue(name)} or ${describeValue(words)}, and a product token has no blanks`
  }
  const names = [...namesIn(userAgent)].slice(0, MAX_SHOWN_WORDS)
  if (names.length > 0) return `it may be ${names.map(describeValue).join(' or ')}`
  const words = new Set(Array.from(userAgent.matchAll(/[^\s;,()]+/g), ([word]) => firstWord(word)))
  const ignored = [...words].filter(isPlatformWord).slice(0, MAX_SHOWN_WORDS)
  return `${ignored.map(describeValue).join(', ')} ${ignored.length === 1 ? 'is a word' : 'are words'} of browsers and systems, not the name of a crawler`
}

/** A header may have any number of words, and an error message should be short. */
const MAX_SHOWN_WORDS = 6

/**
 * Returns the part of a header that begins with the crawler's name: the header itself, or what
 * follows `compatible;`. Returns undefined if both begin with words of browsers.
 */
function namingPart(userAgent: string): string | undefined {
  const header = userAgent.trim()
  if (!isPlatformWord(firstWord(header))) return header
  for (const [, part = ''] of header.matchAll(/\bcompatible[;,]\s*([^;,()]+)/gi)) {
    if (!isPlatformWord(firstWord(part))) return part
  }
  return undefined
}

/** Returns the text before the first blank or delimiter. */
function firstWord(text: string): string {
  return /^\s*([^\s/;(),]*)/.exec(text)?.[1] ?? ''
}

/**
 * Returns the name at the start of a product or of a part of a comment. A name without a version
 * may go on after a blank (`My Crawler`), unless a URL, a number or a comment follows, or the word
 * itself says that it is the name of a crawler.
 */
function nameOf(text: string): string | undefined {
  const name = firstWord(text)
  const rest = text.trimStart().slice(name.length)
  const isWhole = /^(?:\s*[/;(,]|\s*$|\s+(?:v?\d|[+(<[{-]|https?:|www\.|\S+@|mozilla\/))/i.test(rest)
  return isProductToken(name) && (isWhole || CRAWLER.test(name)) ? name : undefined
}

/** Returns the names among the products and comments of a browser's header. */
function namesIn(header: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [word] of header.replace(/\b(?:https?:|www\.)[^\s;,()]*/gi, '').matchAll(/[^\s;,()]+/g)) {
    const name = firstWord(word)
    const isNamed = word.includes('/') || CRAWLER.test(name)
    if (isNamed && isProductToken(name) && /[a-z]{2}/i.test(name) && !isPlatformWord(name)) names.add(name)
  }
  return names
}

/** Returns the only name, or the only name with a word that only crawlers have. */
function onlyName(names: ReadonlySet<string>): string | undefined {
  const crawlers = [...names].filter((name) => CRAWLER.test(name))
  if (crawlers.length === 1) return crawlers[0]
  return names.size === 1 ? [...names][0] : undefined
}

/** Words that only crawlers have in their names. */
const CRAWLER = /bot|crawl|spider/i

/** Names of browsers, engines and systems, and words that accompany them. In lower case. */
const PLATFORM_WORDS: ReadonlySet<string> = new Set(
  `mozilla mozzila applewebkit khtml gecko like chrome chromium headlesschrome crios fxios safari mobile version firefox msie trident win64
  wow64 linux x11 u i android iphone ipad ipod cpu os mac macintosh intel ppc opera presto edge edg edga edgios opr ucbrowser samsungbrowser
  silk vivaldi yabrowser brave compatible seamonkey netscape konqueror iceweasel epiphany camino tablet build wv ubuntu fedora debian freebsd
  openbsd sunos cros symbian symbianos docomo media touch arm i686 i386 x86_64 amd64 win95 win98 winnt en en-us sv1 slcc1 slcc2 dalvik
  thunderbird qtwebengine electron vendorid profile configuration`.split(/\s+/),
)

function isPlatformWord(word: string): boolean {
  return (
    PLATFORM_WORDS.has(word.toLowerCase()) ||
    (!CRAWLER.test(word) &&
      /^(?:rv:|windows|blackberry|nokia|samsung|sonyericsson|lg-|nexus|infopath|\.net)/i.test(word))
  )
}
