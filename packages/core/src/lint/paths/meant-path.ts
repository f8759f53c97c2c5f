// Finds the path that an author meant by a value that is not one, or not only one: quotes, a host,
// HTML entities, backslashes, a second colon.
//
// Strings have one character for each byte. A path is returned only if the value can't mean
// another one.

/** A host, and the path after it. */
export interface HostedPath {
  /** As written, without a port. */
  readonly host: string
  readonly path: string
}

/** Extensions of files that are country codes too: `/a.min.js/b` has no host. */
const EXTENSIONS = 'ai|as|cs|db|do|gz|js|md|pl|ps|py|rb|sh|so|ts|vb'

/**
 * A host: `www.a.b`, a name in a large top-level domain, a name in a country, or an IPv4 address.
 * `.net` needs a third label, because folders of ASP.NET end with it.
 */
const HOST = new RegExp(
  `^(?:www\\.(?:[\\w-]+\\.)+[a-z]{2,}|(?:[a-z\\d-]+\\.)+(?:com|org|edu|gov|info|biz|example|(?!${EXTENSIONS})[a-z]{2})|(?:[a-z\\d-]+\\.){2,}(?:net|app|dev|shop)|\\d{1,3}(?:\\.\\d{1,3}){3})(?=(?::\\d+)?(?:[/?*$]|$))`,
  'i',
)

/** Returns the host that a text begins with, and the path after it. */
export function hostedPathIn(text: string): HostedPath | undefined {
  const found = HOST.exec(text)?.[0]
  if (found === undefined) return undefined
  return { host: found, path: text.slice(found.length).replace(/^:\d+/, '') }
}

/** Returns a host in lower case and without `www.`, to compare it. */
export function bareHost(host: string): string {
  return host.toLowerCase().replace(/^www\./, '')
}

/** A quotation mark, as it is or as a client sends it. The last ones are `‘` to `”` in UTF-8. */
const QUOTE = '(?:["\'`]|%2[27]|\\xe2\\x80[\\x98-\\x9f]|%E2%80%9[89A-F])'
/** Quotation marks around a path or its parts, or a single one at an end. */
const QUOTED = new RegExp(`^(/?)${QUOTE}(.+?)${QUOTE}$|^(/?)"([^"]+)$|^(/[^"*]*)"$`, 'i')

/** Returns a value without the quotation marks around it; undefined if it has none. */
export function withoutQuotes(value: string): string | undefined {
  const [, one = '', inner, other = '', rest, head] = QUOTED.exec(value) ?? []
  const path = inner ?? rest
  return path === undefined ? head : `${one}${other}${path}`.replace(/^\/\//, '/')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
const ENTITY = /&(amp|lt|gt|quot|apos|nbsp);/gi

/** Returns the first HTML entity of a value. */
export function entityIn(value: string): string | undefined {
  return value.match(ENTITY)?.[0]
}

/** Returns a value with its HTML entities decoded. */
export function decodeEntities(value: string): string {
  return value.replace(ENTITY, (_, name: string) => ENTITIES[name.toLowerCase()] ?? '')
}

/** Words that say how much is meant, and name no path. */
const WORD = /^(?:all|any|everything|none|nothing|no|yes|true|false|off|on)$/i

/** Files that a site has many of, so that `.js` means all of them. */
const EXTENSION = /^\.(?:css|gif|ico|jpe?g|js|json|mp[34]|pdf|png|svg|txt|webp|woff2?|xml|zip)$/i

/**
 * A path without its slash: no query or parameter alone, no scheme, and nothing that a URL has only
 * encoded.
 */
const PATH = /^(?!https?\b|[^/?]*=|[\x80-\xff]{1,3}\/)[\w~%\x80-\xff.][^\s"'<>`{}[\]\\|^:]*$/i

/** Returns the path that a value without a leading slash stands for. */
export function meantPath(value: string): string | undefined {
  const decoded = decodeEntities(value)
  const plain = (withoutQuotes(decoded) ?? decoded)
    .replace(/^[:=.][\t ]*(?=[/\\])/, '')
    .replace(/^[^?]*/, (path) => path.replaceAll('\\', '/'))
  if (/^\/(?!\/)[^"]*$/.test(plain)) return plain
  return PATH.test(plain) && !plain.startsWith('..') && !WORD.test(plain) && !EXTENSION.test(plain)
    ? `/${plain}`
    : undefined
}
