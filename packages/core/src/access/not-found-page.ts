// Detects pages that say "not found" although their status is a 5xx. Google treats such a page as
// a 404.
//
// A page with a server error may contain "404" or "not found" for other reasons: in a telephone
// number, in a link, or because an upstream server was not found. So only a title or a heading
// counts, and only if it consists of known words. An unknown word could change its meaning.
import { textOf } from '../bytes.ts'
import type { Headers } from '../http/headers.ts'
import { headingsOf, shownHtml, withoutTags } from './html-text.ts'
import type { AccessPolicy } from './policy.ts'
import type { Response } from './reply.ts'

/**
 * Returns whether a response with this status may be a page that says "not found" and counts as
 * a 404. Then the caller has to read its body. A 503 or a Retry-After header says that the server
 * is out of order for a time, whatever its page says.
 */
export function mayBeNotFoundPage(status: number, headers: Headers, { notFoundPages }: AccessPolicy): boolean {
  const isError = status >= 500 && status <= 599 && status !== 503
  return notFoundPages === 'unavailable' && isError && headers['retry-after'] === undefined
}

/**
 * Returns whether this is a 5xx whose page says "not found", and the policy treats such pages as
 * a 404.
 */
export function isNotFoundPage({ status, headers, body }: Response, policy: AccessPolicy): boolean {
  if (body === undefined || !mayBeNotFoundPage(status, headers, policy)) return false
  const headings = headingsOf(shownHtml(textOf(body.bytes)))
  return headings.some((text) => withoutTags(text).split(SEPARATOR).some(saysNotFound))
}

/**
 * What separates the title of a page from the name of its site, as in
 * `Page not found &#8211; Example`.
 */
const SEPARATOR = /\s(?:[|·•»–—-]|&[mn]dash;|&#821[12];)\s/

function saysNotFound(text: string): boolean {
  const words = text
    .toLowerCase()
    .split(/[\s.,:;!?'"’()]+/)
    .filter((word) => word !== '')
  return (
    words.every((word) => KNOWN_WORDS.has(word)) && /\b(?:404|(?:not|cannot) (?:be )?found)\b/.test(words.join(' '))
  )
}

const KNOWN_WORDS: ReadonlySet<string> = new Set(
  `404 error http status code page file directory document url resource or not found could cannot be was is the this that you requested
  sorry oops`.split(/\s+/),
)
