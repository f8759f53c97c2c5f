// Describes verdicts and entries in English sentences, for people. The wording may change; programs
// read the data itself.
import { type Attempt, decidingAttempt, dueAt, type Entry } from './access/entry.ts'
import { looksLikeMeanings } from './access/looks-like.ts'
import type { UnavailableReason } from './access/outcome.ts'
import type { AccessPolicy } from './access/policy.ts'
import { stateOf } from './access/state.ts'
import type { Access, Verdict } from './decide.ts'
import { describeValue, escapeControls, textWithoutCredentials, withoutCredentials } from './describe-value.ts'
import { OptionError } from './errors.ts'
import type { Group } from './match/verdict.ts'
import { explainUrlProblem } from './url/url-problem.ts'

/**
 * A verdict with or without `access`, what is known about the fetch of robots.txt, and `url`, the
 * URL that was checked.
 * @inline
 */
export type Describable = Verdict & { readonly access?: Access | undefined; readonly url?: string }

/**
 * Describes a verdict and its reason, such as
 * `disallowed: line 3 of robots.txt says "Disallow: /private" to *`. Text from the site is escaped,
 * so the result is safe to print.
 *
 * @throws {OptionError} if `verdict` is not a verdict, such as a promise of one.
 */
export function describeVerdict(verdict: Describable): string {
  const reason = describeReason(verdict)
  return `${verdict.allowed ? 'allowed' : 'disallowed'}: ${reason}`
}

/**
 * Describes the reason of a verdict: `describeVerdict` without `allowed` or `disallowed`.
 *
 * @throws {OptionError} if `verdict` is not a verdict, such as a promise of one.
 */
export function describeReason(verdict: Describable): string {
  const reason = reasonOf(verdict)
  if (reason === undefined) {
    throw new OptionError(
      'verdict',
      `${describeValue(verdict)} is not a verdict; expected what \`check\` returns, such as robots.check(url, "ExampleBot")`,
    )
  }
  return escapeControls(textWithoutCredentials([reason, ...accessNotes(verdict)].join('; ')))
}

/** Returns undefined if the value is not a verdict. */
function reasonOf(verdict: Describable): string | undefined {
  switch (verdict?.because) {
    case 'rule': {
      const { directive, text, line } = verdict.rule
      const field = directive === 'allow' ? 'Allow' : 'Disallow'
      return `line ${line} of robots.txt says ${quoted(`${field}: ${text}`)} to ${namesOf(verdict.group)}`
    }
    case 'no-rule-matched':
      return `no rule of the group for ${namesOf(verdict.group)} (line ${verdict.group.line}) matches`
    case 'no-group': {
      if (verdict.productTokens === undefined) return 'robots.txt has no group for this crawler'
      const names = verdict.productTokens.map(nameOf)
      return verdict.ignoresGroupsForAll
        ? `robots.txt has no group for ${names.join(' or ')}, which does not read the group for *`
        : `robots.txt has no group for ${[...names, '*'].join(' or ')}`
    }
    case 'robots-txt-itself':
      return '/robots.txt may always be fetched'
    case 'other-origin':
      return `this robots.txt belongs to ${verdict.fileOrigin}, and the URL to ${verdict.origin}`
    case 'invalid-url':
      return explainUrlProblem(verdict.problem, verdict.url)
    case 'unavailable':
      return `${unavailableReason(verdict.access)}${isMissing(verdict.access) ? '' : ', which allows everything (RFC 9309 §2.3.1.3)'}`
    case 'unreachable':
      return withCause('robots.txt is unreachable', verdict.access)
    case 'restricted':
      return withCause('the server refuses access to robots.txt', verdict.access)
    case 'unreachable-too-long':
      return withCause('robots.txt has been unreachable for so long that it counts as unavailable', verdict.access)
  }
}

/**
 * Describes in one sentence what is known about an origin's robots.txt and what follows from it.
 *
 * @param now Milliseconds since 1970.
 * @throws {OptionError} if an argument has another type.
 */
export function describeState(entry: Entry | undefined, now: number, policy: AccessPolicy): string {
  if (entry !== undefined && typeof entry?.latest !== 'object') {
    throw new OptionError(
      'entry',
      `${describeValue(entry)} is not an entry; expected what \`settle\` or \`entryFrom\` returns`,
    )
  }
  if (typeof now !== 'number') {
    throw new OptionError(
      'now',
      `${describeValue(now)} is not a time; expected milliseconds since 1970, such as Date.now()`,
    )
  }
  if (typeof policy?.maxTtlMs !== 'number') {
    throw new OptionError(
      'policy',
      `${describeValue(policy)} is not an access policy; expected one such as defaultAccessPolicy`,
    )
  }
  const state = stateOf(entry, now, policy)
  if (entry === undefined) return 'robots.txt has not been fetched yet'
  const { latest, copy, unreachableSince, failures } = entry
  const deciding = decidingAttempt(entry, now, policy)
  const cause = describeCause(deciding)
  const attempts = failures === 1 ? cause : `${failures} failed attempts, the last one: ${cause}`
  const unreachable = `robots.txt has been unreachable since ${formatTime(unreachableSince)} (${attempts})`
  const copyFrom = `the copy from ${formatTime(copy?.confirmedAt)}`
  const sentences: Readonly<Record<typeof state, string>> = {
    unknown: '',
    rules:
      deciding.looksLike === undefined
        ? `robots.txt was fetched (${cause}): its rules are obeyed`
        : `robots.txt was fetched (${cause}), but ${describeForeign(deciding)}; the rules in it, if any, are obeyed`,
    unavailable: `${unavailableReason(deciding)}: everything is allowed`,
    'unavailable-with-copy': `the site no longer has a robots.txt (${cause}): ${copyFrom} is still obeyed for a limited time`,
    restricted: `the server refuses access to robots.txt (${cause}): everything is disallowed`,
    lost: `${unreachable}: everything is disallowed`,
    'lost-with-copy': `${unreachable}: ${copyFrom} is obeyed`,
    'long-lost': `${unreachable}, for so long that everything is allowed`,
    'long-lost-with-copy': `${unreachable}: ${copyFrom} is still obeyed`,
  }
  const refresh = deciding === latest ? '' : `; an early refresh found it unreachable (${describeCause(latest)})`
  const wait = describeRetryAfter(latest.retryAfterMs, latest.at)
  return escapeControls(
    `${sentences[state]}${refresh}${wait === undefined ? '' : `; ${wait}`}; the next attempt is due at ${formatTime(dueAt(entry, policy))}`,
  )
}

/**
 * A site could write a name or a rule that continues our sentence in our words. In quotes it
 * remains the site's text.
 */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function namesOf({ agents }: Group): string {
  return agents.map(nameOf).join(', ')
}

function nameOf(agent: string): string {
  return /^[\w*./-]+$/.test(agent) ? agent : quoted(agent)
}

/**
 * Formats a time in UTC, to the second. An invalid time, which only a corrupt entry has, becomes
 * `an unknown time`.
 */
export function formatTime(ms: number | undefined): string {
  const date = new Date(ms ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The part of an attempt, or of a verdict's access, that says why it ended so. */
export type Cause = Pick<Attempt, 'reason' | 'status' | 'detail' | 'looksLike'>

/** Descriptions of the reasons that are specific to robots.txt. */
const REASONS: Readonly<Record<Exclude<UnavailableReason, 'status'>, string>> = {
  'not-found-page': 'its page says "not found"',
  'too-many-redirects': 'too many redirects',
  'redirect-loop': 'its redirects form a loop',
  'no-usable-location': 'its redirect has no usable Location',
}

/** The statuses of RFC 9110 and RFC 9111 by which a server says that it has no such file. */
const MISSING: ReadonlySet<number | undefined> = new Set([404, 410])

/** Returns whether the server says that the file does not exist, rather than refusing it. */
function isMissing(access: Cause | undefined): boolean {
  return access?.reason !== 'status' || MISSING.has(access.status)
}

function unavailableReason(access: Cause | undefined): string {
  if (isMissing(access)) return withCause('the site has no robots.txt', access)
  const what =
    access?.looksLike === 'challenge'
      ? 'the server sent a challenge for browsers in place of robots.txt'
      : 'the server refused robots.txt'
  return withCause(what, access)
}

/**
 * Describes a response that is not a robots.txt: what it is, and the URL that a redirect led to.
 * Returns an empty string for any other response.
 */
export function describeForeign({ looksLike, hops, url }: Pick<Access, 'looksLike' | 'hops' | 'url'>): string {
  const redirect = hops.length > 0 ? ` (redirected to ${url})` : ''
  return looksLike === undefined
    ? ''
    : `the response is not a robots.txt: it ${looksLikeMeanings[looksLike]}${redirect}`
}

function withCause(sentence: string, access: Cause | undefined): string {
  return access === undefined ? sentence : `${sentence} (${describeCause(access)})`
}

/**
 * Says that the response to a request for robots.txt asked to wait, and until when. Returns
 * undefined if it did not ask.
 * @param retryAfterMs How long. Milliseconds.
 * @param at When the response arrived. Milliseconds since 1970.
 */
export function describeRetryAfter(retryAfterMs: number | undefined, at: number): string | undefined {
  if (retryAfterMs === undefined) return undefined
  return `the server asked to wait ${Math.ceil(retryAfterMs / 1000)} s, until ${formatTime(at + retryAfterMs)}`
}

/** Describes in a few words what an attempt to fetch robots.txt led to, such as `status 404`. */
export function describeCause({ reason, status, detail, looksLike }: Cause): string {
  if (reason === 'foreign-body' && looksLike !== undefined)
    return `status ${status}, but it ${looksLikeMeanings[looksLike]}`
  if (reason === 'status') return `status ${status}`
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as keyof typeof REASONS]
  return detail === undefined ? reason : `${reason}: ${detail}`
}

function accessNotes({ access, url }: Describable): string[] {
  const notes: string[] = []
  if (access?.copy !== undefined && access.looksLike !== undefined) notes.push(describeForeign(access))
  if (access?.status === 401 && url !== undefined && withoutCredentials(url) !== url) {
    notes.push('the user name and password of the URL were not sent with the request for robots.txt')
  }
  if (access?.copy?.freshness === 'stale') {
    notes.push(`according to the last good copy, because robots.txt is ${access.outcome} (${describeCause(access)})`)
  }
  if (access?.copy?.truncated) notes.push('robots.txt is larger than the size limit, so its end was not read')
  const refresh = access?.failedRefresh
  const { retryAfterMs, checkedAt = 0 } = refresh ?? access ?? {}
  const wait = describeRetryAfter(retryAfterMs, checkedAt)
  if (wait !== undefined && refresh !== undefined)
    notes.push(`an early refresh found robots.txt unreachable (${describeCause(refresh)})`)
  if (wait !== undefined) notes.push(wait)
  return notes
}
