// Sets the path to check from a URL of any kind, or returns a verdict that does not depend on a rule. url-fast-path.ts does it for simple URLs.
import type { ParsingRules } from '../dialect.ts'
import { isParsedUrl, originOf, type ParsedUrl, type UrlInput, urlText } from '../url/origin.ts'
import type { RequestPath } from '../url/request-path.ts'
import { googlePathOf, sentUrlOf } from '../url/sent-path.ts'
import type { RulesVerdict } from './verdict.ts'

/**
 * Sets `path` to the path and query of the URL, in normal form. Leaves it unchanged if the URL is invalid.
 *
 * @param fileOrigin The origin that the rules apply to; undefined if it is unknown.
 * @returns The verdict for an invalid URL or another origin; otherwise undefined.
 */
export function resolveUrl(
  url: UrlInput,
  { compare }: ParsingRules,
  fileOrigin: string | undefined,
  path: RequestPath,
): RulesVerdict | undefined {
  return compare === 'google' ? setGooglePath(url, fileOrigin, path) : setSentPath(url, compare, fileOrigin, path)
}

function setSentPath(
  url: UrlInput,
  compare: Exclude<ParsingRules['compare'], 'google'>,
  fileOrigin: string | undefined,
  path: RequestPath,
): RulesVerdict | undefined {
  const sent = sentUrlOf(url, fileOrigin === undefined ? 'ignored' : 'checked')
  if (typeof sent === 'string') {
    return { allowed: false, because: 'invalid-url', url: urlText(url as Exclude<UrlInput, ParsedUrl>), problem: sent }
  }
  path.setPath(sent.path, compare)
  return otherOrigin(sent.origin, fileOrigin)
}

/** Sets the path as it is in the string: google/robotstxt leaves normalization of the URL to its caller. */
function setGooglePath(url: UrlInput, fileOrigin: string | undefined, path: RequestPath): RulesVerdict | undefined {
  const text = isParsedUrl(url) ? url.origin + url.path : urlText(url)
  path.setPath(googlePathOf(text), undefined)
  return otherOrigin(fileOrigin === undefined ? undefined : originOf(text), fileOrigin)
}

/** Returns the verdict `other-origin` if both origins are known and differ. RFC 9309 §2.3. */
function otherOrigin(origin: string | undefined, fileOrigin: string | undefined): RulesVerdict | undefined {
  if (origin === undefined || fileOrigin === undefined || origin === fileOrigin) return undefined
  return { allowed: false, because: 'other-origin', origin, fileOrigin }
}
