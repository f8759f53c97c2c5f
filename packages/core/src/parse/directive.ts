// Recognizes the key of a field. RFC 9309 §2.2, as lenient as google/robotstxt.
import { LOWER_CASE } from '../ascii.ts'
import { bytesOfLatin1 } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'

/**
 * The crawlers that a record applies to.
 * - `agents-above`: the crawlers in the last run of user-agent lines above the record (parser.ts).
 * - `everyone`: all crawlers, wherever the record is.
 */
type Audience = 'agents-above' | 'everyone'

/**
 * The known fields other than `User-agent` and the rules. RFC 9309 §2.2.4.
 * @inline
 */
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

/** The known records, and the crawlers that they apply to. */
export const recordAudiences: Readonly<Record<OtherField, Audience>> = {
  sitemap: 'everyone', // sitemaps.org
  'crawl-delay': 'agents-above', // Bing, Yandex
  'request-rate': 'agents-above', // Seznam; Conner's extended standard
  'visit-time': 'agents-above', // Conner's extended standard
  host: 'everyone', // Yandex, until 2018
  'clean-param': 'everyone', // Yandex
  noindex: 'agents-above', // Google, until 2019
  'content-usage': 'agents-above', // AIPREF: a rule of its group
  'content-signal': 'agents-above', // Content Signals, as Cloudflare describes it
  license: 'everyone', // RSL's guide; by its specification, one inside a group belongs to the group
}

/** The known fields, with the names of their standards. */
export type Directive = 'user-agent' | 'allow' | 'disallow' | OtherField

/**
 * Prefixes of keys, in lower case, in the order in which they are tried. A key with one of these
 * prefixes is known, so `Disallows:` is a disallow. The misspellings are frequent ones in real
 * files.
 *
 * google/robotstxt recognizes these fields by prefix. All other fields are known by their whole
 * name only: `Content-Signals` is not `Content-Signal`, and `Host-Load` is not `Host`.
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
  ...(Object.keys(recordAudiences) as OtherField[]),
]

/**
 * A name that makes a key known: the `whole` key must be equal to it, or it must be a `prefix` of
 * the key. Case does not matter.
 */
export interface KnownKey {
  /** In lower case. */
  readonly name: Uint8Array
  readonly by: 'prefix' | 'whole'
  readonly directive: Directive
}

function knownKey(name: string, by: KnownKey['by'], directive: Directive): KnownKey {
  return { name: bytesOfLatin1(name), by, directive }
}

/** The known keys by their first byte, in the order in which they are tried. */
export type KeyTable = readonly (readonly KnownKey[])[]

function byFirstByte(keys: readonly KnownKey[]): KeyTable {
  const table = Array.from({ length: 256 }, (): KnownKey[] => [])
  for (const key of keys) table[key.name[0] as number]?.push(key)
  return table
}

const BY_NAME = fieldNames.map((name) => knownKey(name, 'whole', name))
const BY_PREFIX = PREFIXES.map(([prefix, directive]) => knownKey(prefix, 'prefix', directive))
export const KNOWN_KEYS: Readonly<Record<ParsingRules['keys'], KeyTable>> = {
  exact: byFirstByte(BY_NAME),
  lenient: byFirstByte([...BY_PREFIX, ...BY_NAME]),
}

/**
 * Returns the first known key with whose name the bytes from `start` to `end` begin, in any case.
 * If the name must be the whole key, `directiveOfKey` then compares the lengths. May read bytes
 * after `end`.
 */
export function knownKeyAt(bytes: Uint8Array, start: number, end: number, keys: KeyTable): KnownKey | undefined {
  if (start >= end) return undefined
  const known = keys[LOWER_CASE[bytes[start] as number] as number] as readonly KnownKey[]
  for (let k = 0; k < known.length; k++) {
    const { name } = known[k] as KnownKey
    let i = 1
    while (i < name.length && LOWER_CASE[bytes[start + i] as number] === name[i]) i++
    if (i === name.length && start + i <= end) return known[k]
  }
  return undefined
}

/** Returns the known key that a lenient reader finds in a key; one character for each byte. */
export function knownKeyOf(key: string): KnownKey | undefined {
  const bytes = bytesOfLatin1(key)
  const known = knownKeyAt(bytes, 0, bytes.length, KNOWN_KEYS.lenient)
  return directiveOfKey(known, bytes.length) === 'unknown' ? undefined : known
}

/**
 * Returns the directive of a key with this length. @param known The result of `knownKeyAt` for the
 * key.
 */
export function directiveOfKey(known: KnownKey | undefined, length: number): Directive | 'unknown' {
  if (known === undefined || length < known.name.length) return 'unknown'
  return known.by === 'prefix' || length === known.name.length ? known.directive : 'unknown'
}
