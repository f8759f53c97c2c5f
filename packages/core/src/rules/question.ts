// What is asked: a URL -> the path that rules are compared with, or a verdict that needs no rule.
import type { Reading } from '../dialect.ts'
import { octetsOf } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { targetForm } from '../url/normal-form.ts'
import { type Askable, isAddress, originOf, type UrlProblem } from '../url/origin.ts'
import { takePlain } from '../url/plain-url.ts'
import { googleTargetOf, type Target, targetOf } from '../url/target.ts'
import type { RulesVerdict } from './verdict.ts'

export interface Question {
  /** Path and query in the form for comparing, octets; undefined for what is no URL. */
  readonly path: string | undefined
  /** The verdict, where no rule is looked at. */
  readonly settled: RulesVerdict | undefined
}

/** @param fileOrigin The origin that the rules speak for, if it is known. */
export function questionOf(url: Askable, reading: Reading, fileOrigin: string | undefined): Question {
  const target = comparedTargetOf(url, reading.compare, fileOrigin)
  if (typeof target === 'string') {
    return { path: undefined, settled: { allowed: false, because: 'invalid-url', problem: target } }
  }
  const { origin, path } = target
  if (origin !== undefined && fileOrigin !== undefined && origin !== fileOrigin) {
    return { path, settled: { allowed: false, because: 'other-origin', origin, fileOrigin } } // §2.3
  }
  if (path === ROBOTS_TXT && reading.robotsTxtItself === 'allowed') {
    return { path, settled: { allowed: true, because: 'robots-txt-itself' } } // §2.2.2
  }
  return { path, settled: undefined }
}

const ROBOTS_TXT = '/robots.txt'

/**
 * The same for most URLs, in a third of the time: those that are as a client sends them already, whose path is in the form for comparing,
 * and about which only rules can say anything. Takes the path.
 *
 * @returns Whether it is such a URL; or else `questionOf` has to be asked.
 */
export function askPlainly(url: Askable, reading: Reading, fileOrigin: string | undefined, path: AskedPath): boolean {
  if (typeof url !== 'string' || reading.compare !== 'rfc9309' || !takePlain(url, fileOrigin, path)) return false
  return !isRobotsTxt(path)
}

function isRobotsTxt({ bytes, start, length }: AskedPath): boolean {
  if (length !== ROBOTS_TXT.length) return false
  let i = 0
  while (i < length && bytes[start + i] === ROBOTS_TXT.charCodeAt(i)) i++
  return i === length
}

function comparedTargetOf(
  url: Askable,
  compare: Reading['compare'],
  fileOrigin: string | undefined,
): Target | UrlProblem {
  if (compare !== 'google') {
    const target = targetOf(url, fileOrigin === undefined ? 'ignored' : 'checked')
    return typeof target === 'string' ? target : { ...target, path: targetForm(target.path, compare) }
  }
  const text = typeof url === 'string' ? url : isAddress(url) ? url.origin + url.path : url.href
  const origin = fileOrigin === undefined ? undefined : originOf(text)
  return { origin, path: octetsOf(googleTargetOf(text)) }
}
