// Validates the `origin` option.
import { copyOfAscii } from '../bytes.ts'
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'
import { type HasHref, originOf } from './origin.ts'

/** @throws {OptionError} if `url` is not an http, https or ftp URL. */
export function ownOrigin(url: string | HasHref): string {
  const text = typeof url === 'string' ? url : url?.href
  const origin = typeof text === 'string' ? originOf(text) : undefined
  if (origin === undefined) {
    throw new OptionError('origin', `${describeValue(url)} is not an origin; write one such as https://example.com`)
  }
  // V8 may keep the whole URL in memory, because the origin is a slice of it.
  return text.length - origin.length > MAX_CHARACTERS_AFTER_ORIGIN ? copyOfAscii(origin) : origin
}

/**
 * The origin is copied if the URL has more characters than this after it. For fewer, as in
 * `/robots.txt`, a copy costs more than it saves.
 */
const MAX_CHARACTERS_AFTER_ORIGIN = 64
