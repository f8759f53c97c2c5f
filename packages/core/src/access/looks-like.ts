// Recognises a response that is not a robots.txt, so that the user learns why "everything is
// allowed" or "unreachable" may not be what the site's author wanted.
import { foreignFormatOf, type LooksLike } from '../foreign-format.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import type { Response } from './reply.ts'

/** What "it", the response, is or does: one phrase for people for each kind. */
export const looksLikeMeanings: Readonly<Record<LooksLike, string>> = {
  challenge: 'is a challenge for browsers',
  html: 'is an HTML page',
  xml: 'is XML',
  json: 'is JSON',
  'utf-16': 'is UTF-16, which crawlers cannot read',
  gzip: 'is compressed, although no Content-Encoding says so',
  binary: 'is binary data',
  text: 'is plain text without a line of a robots.txt',
}

/**
 * Returns what a response looks like if it is not a robots.txt. An error page says nothing that its
 * status does not say, so the body counts for a 2xx only.
 */
export function looksLikeOf({ status, headers, body }: Response): LooksLike | undefined {
  if (isChallenge(headers)) return 'challenge'
  return status >= 200 && status <= 299 && body !== undefined ? foreignFormatOf(body.bytes) : undefined
}

/** Returns whether the headers of a response say that it is a challenge for browsers. */
export function isChallenge(headers: Headers): boolean {
  return isChallengeBy((name) => headerOf(headers, name))
}

/** The same, for headers that are read with a function, by name in lower case. */
export function isChallengeBy(header: (name: string) => string | null | undefined): boolean {
  return (
    /^challenge$/i.test(header('cf-mitigated') ?? '') ||
    /^(?:challenge|captcha)$/i.test(header('x-amzn-waf-action') ?? '')
  )
}
