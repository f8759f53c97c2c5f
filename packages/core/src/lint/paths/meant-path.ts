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

/**
 * Hosts: `www.a.b`, a name in a large top-level domain, and a name in a country, except for
 * extensions of files that are country codes too: `/a.min.js/b` has no host. `.net` needs a third
 * label, because folders of ASP.NET end with it.
 */
const HOSTS =
  /^(?:www\.(?:[\w-]+\.)+[a-z]{2,}|(?:[a-z\d-]+\.)+(?:com|org|edu|gov|info|biz|example)|(?:[a-z\d-]+\.){2,}(?:net|app|dev|shop|(?!ai|as|cs|db|do|gz|js|md|pl|ps|py|rb|sh|so|ts|vb)[a-z]{2}))$/i

/** Hosts too, but only without a slash before them: versions and names of software look like these. */
const HOSTS_WITHOUT_SLASH =
  /^(?:[a-z\d-]+\.(?!ai|as|cs|db|do|gz|js|md|pl|ps|py|rb|sh|so|ts|vb)[a-z]{2}|\d{1,3}(?:\.\d{1,3}){3})$/i

/**
 * Returns the host that a text begins with, and the path after it.
 *
 * @param known Hosts of the site, as `hostWithoutWww` returns them.
 */
export function hostedPathIn(
  text: string,
  known: ReadonlySet<string> = new Set(),
  hasSlash = false,
): HostedPath | undefined {
  const [, host = '', path = ''] = /^([\w-]+(?:\.[\w-]+)+)(?::\d+)?(?![^/?*$])(.*)$/s.exec(text) ?? []
  const isHost =
    (host !== '' && known.has(hostWithoutWww(host))) ||
    HOSTS.test(host) ||
    (!hasSlash && HOSTS_WITHOUT_SLASH.test(host))
  return isHost ? { host, path } : undefined
}

/** Returns a host in lower case and without `www.`, to compare it. */
export function hostWithoutWww(host: string): string {
  return host.toLowerCase().replace(/^www\./, '')
}

/**
 * Quotation marks around a path or its parts, or a single one at an end. They are as they are, or as
 * a client sends them. The last ones are `‘` to `”` in UTF-8.
 */
const QUOTED =
  /^(\/?)(?:["'`]|%2[27]|\xe2\x80[\x98-\x9f]|%E2%80%9[89A-F])(.+?)(?:["'`]|%2[27]|\xe2\x80[\x98-\x9f]|%E2%80%9[89A-F])([/*$]*)$|^(\/?)"([^"]+)$|^(\/[^"*]*)"$/i

/** Returns a value without the quotation marks around it; undefined if it has none. */
export function withoutQuotes(value: string): string | undefined {
  const [, one = '', inner, tail = '', other = '', rest, head] = QUOTED.exec(value) ?? []
  const path = inner ?? rest
  return path === undefined ? head : `${one}${other}${path}${tail}`.replace(/^\/\//, '/')
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
 * A path without its slash: no query or parameter alone, no scheme, no slash that is encoded, and
 * nothing that a URL has only encoded.
 */
const PATH = /^(?!https?\b|%2f|[^/?]*=|[\x80-\xff]{1,3}\/)[\w~%\x80-\xff.][^\s"'<>`{}[\]\\|^:]*$/i

/** What may be a host, an address of e-mail, or a path: `example.xyz/a`, `localhost/a`, `a@b.example`. */
const MAYBE_HOST =
  /^(?:localhost(?![\w-])|[^/?]*@|(?:[\w\x80-\xff-]+\.)+(?!(?:[aj]spx?|cfm|cgi|css|html?|js|php\d?|txt|xml)\/)(?:[a-z]{2,}\/|(?:net|app|dev|shop|xyz|cloud|online|site|store|local)(?:[?*$]|$)))/i

/** Returns the path that a value without a leading slash stands for. */
export function meantPath(value: string): string | undefined {
  const decoded = decodeEntities(value)
  const plain = (withoutQuotes(decoded) ?? decoded)
    .replace(/^[:=.][\t ]*(?=[/\\])/, '')
    .replace(/^[^?]*/, (path) => path.replaceAll('\\', '/'))
  if (/^\/(?!\/)[^"]*$/.test(plain)) return plain
  return PATH.test(plain) &&
    !MAYBE_HOST.test(plain) &&
    !plain.startsWith('..') &&
    !WORD.test(plain) &&
    !EXTENSION.test(plain)
    ? `/${plain}`
    : undefined
}
