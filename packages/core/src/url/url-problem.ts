// Why no robots.txt applies to a URL, and what to write instead.
import { describeValue, escapeControls } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * Why no robots.txt applies to a URL: `empty`: the string is empty or blank; `relative`: its scheme
 * is missing, as in `/path`, `//host/path`, `host/path` and `host:8080/path`; `malformed`: it is
 * invalid by the WHATWG URL standard; `scheme`: its scheme has no robots.txt, such as `mailto:`;
 * `too-long`: its path and query have more than 65,536 characters.
 */
export type UrlProblem = 'empty' | 'relative' | 'malformed' | 'scheme' | 'too-long'

/**
 * A host and a port without a scheme. The URL parser would read the host as a scheme. Telephone
 * numbers are written in the same form, and links to short ones are frequent.
 */
const HOST_AND_PORT = /^(?!(?:tel|sms|callto):)[a-z0-9][a-z0-9.-]*:\d{1,5}(?:[/?#]|$)/i

/**
 * Returns why a URL has no robots.txt. @param parsed The URL, with a scheme that has none; null if
 * the URL parser rejects the text.
 */
export function problemOf(text: string, parsed: URL | null): UrlProblem {
  const trimmed = text.trim()
  if (trimmed === '') return 'empty'
  if (HOST_AND_PORT.test(trimmed)) return 'relative'
  if (parsed !== null) return 'scheme'
  // A reference that resolves against a base is relative; any other is malformed.
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(trimmed)
  return !hasScheme && URL.canParse(text, 'http://base.invalid/') ? 'relative' : 'malformed'
}

const PROBLEMS: Readonly<Record<UrlProblem, string>> = {
  empty: 'no URL was given; write one such as',
  relative: 'the URL has no scheme; write it whole, such as',
  malformed: 'the URL is invalid; write one such as',
  scheme: 'only http, https and ftp URLs have a robots.txt; write one such as',
  'too-long': 'the path and query of the URL have more than 65,536 characters; write a shorter one, such as',
}

const EXAMPLE = 'https://example.com/page'

/**
 * Explains a problem in one sentence, and says what to write instead.
 *
 * @param url The URL with the problem. If its scheme is missing, the sentence contains the URL with
 * a scheme, unless it has an `@` or `%40`, which may end credentials. Control characters are
 * escaped.
 * @throws {OptionError} if `problem` is not a problem of a URL.
 */
export function explainUrlProblem(problem: UrlProblem, url?: string): string {
  if (!Object.hasOwn(PROBLEMS, problem)) {
    const known = Object.keys(PROBLEMS).join(', ')
    throw new OptionError('problem', `${describeValue(problem)} is not known; expected one of ${known}`)
  }
  const example = problem === 'relative' && url !== undefined ? wholeUrl(url.trim()) : EXAMPLE
  return `${PROBLEMS[problem]} ${escapeControls(example)}`
}

const MAX_EXAMPLE_LENGTH = 100

/**
 * Returns a URL without a scheme as a whole URL. It gets the host example.com if it is only a path.
 */
function wholeUrl(url: string): string {
  const startsWithHost =
    /^[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d/i.test(url) || /^(?:localhost|[^/?#]+\.[^/?#]+)(?:[/?#]|$)/i.test(url)
  const whole = url.startsWith('//')
    ? `https:${url}`
    : startsWithHost
      ? `https://${url}`
      : `https://example.com/${url.replace(/^\//, '')}`
  const isUsable = whole.length <= MAX_EXAMPLE_LENGTH && !/@|%40/.test(whole) && URL.canParse(whole)
  return isUsable ? whole : EXAMPLE
}
