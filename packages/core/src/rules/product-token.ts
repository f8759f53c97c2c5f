// The crawler's name in robots.txt. RFC 9309 §2.2.1.

/** A product token as callers may give it: the RFC's letters, `_` and `-`; and digits, which 9 % of real files use. */
const TOKEN = /^[A-Za-z0-9_-]+$/

/** Is this a product token: one or more of `a-z A-Z _ -`, or digits? */
export function isProductToken(text: string): boolean {
  return TOKEN.test(text)
}

/**
 * The product token in a User-Agent header: `ExampleBot` of `ExampleBot/1.0 (+https://example.com/bot)` and of
 * `Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)`. Undefined where no name stands in one of these two
 * places, as in a browser's header, or where it has other characters than letters, digits, `_` and `-`.
 */
export function productTokenOf(userAgent: string): string | undefined {
  const header = userAgent.trim()
  const name = /^Mozilla\//i.test(header)
    ? /[(;]\s*compatible;\s*([^\s/;()]+)/i.exec(header)?.[1]
    : /^[^\s/;()]+/.exec(header)?.[0]
  return name !== undefined && isProductToken(name) ? name : undefined
}

/** Does a group's user-agent line name every crawler? `*` alone, or with a blank and anything after it (google/robotstxt). */
export function namesEveryone(value: string): boolean {
  return value.charCodeAt(0) === 42 && (value.length === 1 || /[\t-\r ]/.test(value.charAt(1)))
}

/** What of a user-agent line is compared: up to the first character that no token has, so `ExampleBot/2.1` is `examplebot`. */
export function tokenOfLine(value: string, characters: TokenCharacters): string {
  return (characters === 'letters' ? /^[A-Za-z_-]*/ : /^[A-Za-z0-9_-]*/).exec(value)?.[0].toLowerCase() ?? ''
}

/** The name in a user-agent line, without a version: `ExampleBot/2.1` is `examplebot`. */
export function nameOfLine(value: string): string {
  return value.replace(/[/ \t].*$/, '').toLowerCase()
}

/** Which characters a product token may have: the RFC's `letters` with `_` and `-`, or `letters-and-digits`. */
export type TokenCharacters = 'letters' | 'letters-and-digits'
