// Describes values and URLs in messages and logs.

/** Values are cut to this many characters in messages. */
const MAX_QUOTED_LENGTH = 100

/**
 * Describes an invalid value in an error message, also one that JSON cannot represent. A text may
 * be a URL, so it is shown without credentials.
 */
export function describeValue(value: unknown): string {
  if (typeof value !== 'string') return describeOther(value)
  const text = withoutCredentials(value)
  return JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text)
}

/** Describes an invalid value that is not a string. */
export function describeOther(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const type = Object.prototype.toString.call(value).slice('[object '.length, -1) // such as `Promise`
  return type === 'Object' ? 'an object' : `an object of type ${type}`
}

/**
 * Escapes control characters, invisible format characters and line separators, so that text from
 * elsewhere is safe to print. A rule is written by a site, which could otherwise move the
 * terminal's cursor, change its colours or reverse the direction of the text.
 */
export function escapeControls(text: string): string {
  // A value that is not a string becomes text, so that a log line never fails.
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)
}

/**
 * Returns a URL without its credentials (`user:password@`), for messages and logs. The scheme may
 * be missing.
 *
 * A valid URL loses only its credentials. An invalid URL, such as `http://user:pass/word@host`,
 * does not show where its credentials end. It loses everything before its last `@` or `%40`, except
 * its scheme. A relative path is not changed.
 */
export function withoutCredentials(url: string): string {
  if (!/@|%40/.test(url)) return url
  const text = url.replace(/^[\0-\x20\s]+|[\t\n\r]/g, '') // what URL parsers ignore, and what `trim` removes
  if (WITHOUT_AUTHORITY.test(text)) return url
  const [start, scheme] = AUTHORITY_START.exec(text) as unknown as [string, string | undefined]
  const rest = text.slice(start.length)
  const isSpecial = scheme === undefined || /^(?:https?|ftp|wss?|file)$/i.test(scheme)
  const whole = `${isSpecial ? 'https' : 'x'}://${rest}`
  const parsed = URL.canParse(whole) ? new URL(whole) : null
  const isInOtherText = scheme === undefined && /:[/\\]{2}/.test(rest) // such as `(https://user:password@host)`
  if (parsed === null || isInOtherText) return start + rest.replace(/^.*(?:@|%40)/s, '')
  if (parsed.username + parsed.password === '') return url
  return start + rest.replace(isSpecial ? /^[^/\\?#]*@/ : /^[^/?#]*@/, '') // a `\` ends the host only after these schemes
}

/**
 * Returns a text without the credentials of the URLs in it, for messages and logs: a line of a
 * robots.txt, or a message of another program. Mail addresses stay.
 */
export function textWithoutCredentials(text: string): string {
  return /@|%40/.test(text) ? text.replace(/.+/g, lineWithoutCredentials) : text
}

function lineWithoutCredentials(text: string): string {
  const starts = Array.from(text.matchAll(URL_START), ({ index }) => index)
  if (starts.length === 0) return USER_AND_PASSWORD.test(text) ? withoutCredentials(text) : text
  const parts = starts.map((start, n) => partWithoutCredentials(text.slice(start, starts[n + 1])))
  return text.slice(0, starts[0]) + parts.join('')
}

/** @param part Begins with a URL. Other words may follow. */
function partWithoutCredentials(part: string): string {
  const [word = ''] = /^\S*/.exec(part) ?? []
  // `https://a.test, mail bot@a.test` has no credentials. `http://u s: e @a.test` has: parsers accept
  // spaces in them.
  const base = 'https://a.test'
  const host = URL.canParse(word, base) ? new URL(word, base).hostname : ''
  const isWhole = word.includes('@') || host.includes('.') || host === 'localhost'
  return isWhole ? withoutCredentials(word) + part.slice(word.length) : withoutCredentials(part)
}

/** A text that is only a URL without a scheme: `user:password@host`. */
const USER_AND_PASSWORD = /^(?!(?:mailto|acct|xmpp|sips?):)[\w.~-]+:\S*(?:@|%40)\S*$/i

/**
 * What begins a URL in a text: a scheme with two slashes; `http:` and the like with fewer; or two
 * slashes at the start of a word. Two slashes in a path begin none.
 */
const URL_START =
  /(?<![a-z\d])[a-z][a-z\d+.-]{0,30}:[/\\]{2}|(?<![a-z\d])(?:https?|ftp|wss?):(?=\S)|(?<![^\s"'`(<[=,:;])[/\\]{2}/gi

/** A relative path, a mail address or data. */
const WITHOUT_AUTHORITY = /^(?:\.{0,2}[/\\](?![/\\])|[?#]|mailto:[^:]*$|data:[^,@]*,)/i

/**
 * What comes before the authority. Only some schemes need no slashes. WHATWG URL, "special scheme".
 */
const AUTHORITY_START = /^(?:(?:([a-z][a-z\d+.-]*):)?[/\\]{2,}|(?:https?|ftp|wss?):[/\\]*)?/i
