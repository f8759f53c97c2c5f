// Which directive a key is. RFC 9309 §2.2, read as leniently as google/robotstxt reads it.
import { LOWER_CASE } from '../ascii.ts'
import { bytesOfLatin1 } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'

/** Which crawlers a record speaks to: those of the user-agent lines right above it, or all, wherever it is. */
type Audience = 'agents-above' | 'everyone'

/** The fields beside user-agent lines and rules that are known. RFC 9309 §2.2.4. */
export type OtherField =
  | 'sitemap'
  | 'crawl-delay'
  | 'request-rate'
  | 'visit-time'
  | 'host'
  | 'clean-param'
  | 'noindex'
  | 'content-usage'
  | 'content-signal'
  | 'license'

export const otherFields: Readonly<Record<OtherField, Audience>> = {
  sitemap: 'everyone', // sitemaps.org
  'crawl-delay': 'agents-above', // Bing, Yandex
  'request-rate': 'agents-above', // Seznam; Conner's extended standard
  'visit-time': 'agents-above', // Conner's extended standard
  host: 'everyone', // Yandex, until 2018
  'clean-param': 'everyone', // Yandex
  noindex: 'agents-above', // Google, until 2019
  'content-usage': 'agents-above', // AIPREF: a rule of its group
  'content-signal': 'agents-above', // Content Signals: as Cloudflare lays it out
  license: 'everyone', // RSL
}

/** The directives that are known, by the names their standards give them. */
export type Directive = 'user-agent' | 'allow' | 'disallow' | OtherField

/**
 * Prefixes of keys, in lower case, in the order in which they are tried. A key that begins so is known, so `Disallows:` is a disallow; the
 * misspellings are the frequent ones of real files.
 *
 * These are the fields that Google reads, and Google reads them so. All others are known by their whole name: `Content-Signals` is not
 * `Content-Signal`, and `Host-Load` is not `Host`.
 */
const PREFIXES: readonly (readonly [prefix: string, directive: Directive])[] = [
  ['user-agent', 'user-agent'],
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]

/** The names of all known fields. */
export const fieldNames: readonly Directive[] = [
  'user-agent',
  'allow',
  'disallow',
  ...(Object.keys(otherFields) as OtherField[]),
]

/** A key is known if it is `name`, or begins with it. */
export interface KnownKey {
  readonly name: Uint8Array
  /** For each byte of the name the bit that case sets in it; 0 for bytes that are not letters. */
  readonly fold: Uint8Array
  readonly by: 'prefix' | 'whole'
  readonly directive: Directive
}

function knownKey(name: string, by: KnownKey['by'], directive: Directive): KnownKey {
  const bytes = bytesOfLatin1(name)
  const fold = bytes.map((byte) => (byte >= LETTER_A ? LOWER_CASE : 0))
  return { name: bytes, fold, by, directive }
}

const LETTER_A = 97

/** The known keys by their first letter, in the order in which they are tried. */
export type KeyTable = readonly (readonly KnownKey[])[]

function byFirstLetter(keys: readonly KnownKey[]): KeyTable {
  return Array.from({ length: 256 }, (_, letter) => keys.filter(({ name }) => name[0] === letter))
}

const BY_NAME = fieldNames.map((name) => knownKey(name, 'whole', name))
const BY_PREFIX = PREFIXES.map(([prefix, directive]) => knownKey(prefix, 'prefix', directive))
export const KNOWN_KEYS: Readonly<Record<ParsingRules['keys'], KeyTable>> = {
  exact: byFirstLetter(BY_NAME),
  lenient: byFirstLetter([...BY_PREFIX, ...BY_NAME]),
}

/** The first known key that the bytes begin with, in any case. */
export function knownKeyAt(bytes: Uint8Array, start: number, end: number, keys: KeyTable): KnownKey | undefined {
  const known = keys[(bytes[start] as number) | LOWER_CASE] as readonly KnownKey[]
  for (let k = 0; k < known.length; k++) {
    const { name, fold } = known[k] as KnownKey
    let i = 1
    while (i < name.length && ((bytes[start + i] as number) | (fold[i] as number)) === name[i]) i++
    if (i === name.length && start + i <= end) return known[k]
  }
  return undefined
}

/** Which directive a whole key is, in any case; bytes, one character for each. */
export function directiveOf(key: string): Directive | 'unknown' {
  const bytes = bytesOfLatin1(key)
  return directiveOfKey(knownKeyAt(bytes, 0, bytes.length, KNOWN_KEYS.lenient), bytes.length)
}

/** Which directive a key of this length is that begins with a known one. */
export function directiveOfKey(known: KnownKey | undefined, length: number): Directive | 'unknown' {
  if (known === undefined || length < known.name.length) return 'unknown'
  return known.by === 'prefix' || length === known.name.length ? known.directive : 'unknown'
}
