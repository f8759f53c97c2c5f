// Sets the path to check from a URL of any kind, or returns a verdict that does not depend on a rule. url-fast-path.ts does it for simple URLs.
import type { ParsingRules } from '../dialect.ts'
import { isParsedUrl, type UrlInput, urlText } from '../url/origin.ts'
import type { RequestPath } from '../url/request-path.ts'
import { googleUrlOf, sentUrlOf } from '../url/sent-path.ts'
import type { RulesVerdict } from './verdict.ts'

/**
 * Sets `path` to the path and query of the URL, in normal form. Leaves it unchanged if the URL is invalid.
 *
 * @param fileOrigin The origin that the rules apply to; undefined if it is unknown.
 * @returns The verdict for an invalid URL or another origin (RFC 9309 §2.3); otherwise undefined.
 */
export function resolveUrl(
  url: UrlInput,
  { compare }: ParsingRules,
  fileOrigin: string | undefined,
  path: RequestPath,
): RulesVerdict | undefined {
  const authority = fileOrigin === undefined ? 'ignored' : 'checked'
  const sent = compare === 'google' ? googleUrlOf(textOf(url), authority) : sentUrlOf(url, authority)
  if (typeof sent === 'string') return { allowed: false, because: 'invalid-url', url: textOf(url), problem: sent }
  const { origin, path: sentPath } = sent // before `setPath`, because a getter of the caller may check another URL
  path.setPath(sentPath, compare)
  if (origin === undefined || fileOrigin === undefined || origin === fileOrigin) return undefined
  return { allowed: false, because: 'other-origin', origin, fileOrigin }
}

function textOf(url: UrlInput): string {
  return isParsedUrl(url) ? url.origin + url.path : urlText(url)
}
