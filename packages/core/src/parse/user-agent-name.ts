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
  const header = userAgent.trim()
  if (!isPlatformWord(firstWord(header))) return nameOf(header)
  for (const [, part = ''] of header.matchAll(/\bcompatible[;,]\s*([^;,()]+)/gi)) {
    if (!isPlatformWord(firstWord(part))) return nameOf(part)
  }
  return onlyName(header)
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

/** Returns the only name among the products and comments of a browser's header, if there is one. */
function onlyName(header: string): string | undefined {
  const names = new Set<string>()
  for (const [word] of header.replace(/\b(?:https?:|www\.)[^\s;,()]*/gi, '').matchAll(/[^\s;,()]+/g)) {
    const name = firstWord(word)
    const isNamed = word.includes('/') || CRAWLER.test(name)
    if (isNamed && isProductToken(name) && /[a-z]{2}/i.test(name) && !isPlatformWord(name)) names.add(name)
  }
  const crawlers = [...names].filter((name) => CRAWLER.test(name))
  if (crawlers.length === 1) return crawlers[0]
  return names.size === 1 ? [...names][0] : undefined
}

/** Words that only crawlers have in their names. */
const CRAWLER = /bot|crawl|spider/i

/** Names of browsers, engines and systems, and words that stand beside them. In lower case. */
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
    /^(?:rv:|windows|blackberry|nokia|samsung|sonyericsson|lg-|nexus|infopath|\.net)/i.test(word)
  )
}
