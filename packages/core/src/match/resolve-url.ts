// What is asked: sets the path that rules are compared with, or gives a verdict that needs no rule.
import type { ParsingRules } from '../dialect.ts'
import { isParsedUrl, originOf, type UrlInput } from '../url/origin.ts'
import type { RequestPath } from '../url/request-path.ts'
import { googlePathOf, sentUrlOf } from '../url/sent-path.ts'
import type { RulesVerdict } from './verdict.ts'

/**
 * Sets the path to that of the URL, in the form for comparing; not if the URL is invalid.
 *
 * @param fileOrigin The origin that the rules speak for, if it is known.
 * @returns The verdict, if it does not depend on a rule.
 */
export function resolveUrl(
  url: UrlInput,
  rules: ParsingRules,
  fileOrigin: string | undefined,
  path: RequestPath,
): RulesVerdict | undefined {
  const { compare } = rules
  return compare === 'google' ? setGooglePath(url, fileOrigin, path) : setSentPath(url, compare, fileOrigin, path)
}

function setSentPath(
  url: UrlInput,
  compare: Exclude<ParsingRules['compare'], 'google'>,
  fileOrigin: string | undefined,
  path: RequestPath,
): RulesVerdict | undefined {
  const sent = sentUrlOf(url, fileOrigin === undefined ? 'ignored' : 'checked')
  if (typeof sent === 'string') return { allowed: false, because: 'invalid-url', problem: sent }
  path.setPath(sent.path, compare)
  return otherOrigin(sent.origin, fileOrigin)
}

/** As it is in the string: google/robotstxt leaves it to its caller to bring the URL to a form. */
function setGooglePath(url: UrlInput, fileOrigin: string | undefined, path: RequestPath): RulesVerdict | undefined {
  const text = typeof url === 'string' ? url : isParsedUrl(url) ? url.origin + url.path : url.href
  path.setPath(googlePathOf(text), undefined)
  return otherOrigin(fileOrigin === undefined ? undefined : originOf(text), fileOrigin)
}

/** RFC 9309 §2.3. */
function otherOrigin(origin: string | undefined, fileOrigin: string | undefined): RulesVerdict | undefined {
  if (origin === undefined || fileOrigin === undefined || origin === fileOrigin) return undefined
  return { allowed: false, because: 'other-origin', origin, fileOrigin }
}
