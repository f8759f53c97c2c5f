// Describes verdicts and entries in English sentences, for people. The wording may change; programs
// read the data itself.
import { type Attempt, decidingAttempt, dueAt, type Entry } from './access/entry.ts'
import type { UnavailableReason } from './access/outcome.ts'
import type { AccessPolicy } from './access/policy.ts'
import { stateOf } from './access/state.ts'
import type { Access, Verdict } from './decide.ts'
import { describeValue } from './describe-value.ts'
import { OptionError } from './errors.ts'
import { escapeControls } from './escape-controls.ts'
import type { Group } from './match/verdict.ts'
import { explainUrlProblem } from './url/url-problem.ts'

/** A verdict with or without `access`: what is known about the fetch of robots.txt. */
export type Describable = Verdict & { readonly access?: Access | undefined }

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
  return escapeControls([reason, ...copyNotes(verdict.access)].join('; '))
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
    case 'no-group':
      return 'robots.txt has no group for this crawler'
    case 'robots-txt-itself':
      return '/robots.txt may always be fetched'
    case 'other-origin':
      return `this robots.txt belongs to ${verdict.fileOrigin}, and the URL to ${verdict.origin}`
    case 'invalid-url':
      return explainUrlProblem(verdict.problem, verdict.url)
    case 'unavailable':
      return withCause('the site has no robots.txt', verdict.access)
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
  const cause = causeOf(deciding)
  const attempts = failures === 1 ? cause : `${failures} failed attempts, the last one: ${cause}`
  const unreachable = `robots.txt has been unreachable since ${formatTime(unreachableSince)} (${attempts})`
  const copyFrom = `the copy from ${formatTime(copy?.confirmedAt)}`
  const sentences: Readonly<Record<typeof state, string>> = {
    unknown: '',
    rules: `robots.txt was fetched (${cause}): its rules are obeyed`,
    unavailable: `the site has no robots.txt (${cause}): everything is allowed`,
    'unavailable-with-copy': `the site no longer has a robots.txt (${cause}): ${copyFrom} is still obeyed for a limited time`,
    restricted: `the server refuses access to robots.txt (${cause}): everything is disallowed`,
    lost: `${unreachable}: everything is disallowed`,
    'lost-with-copy': `${unreachable}: ${copyFrom} is obeyed`,
    'long-lost': `${unreachable}, for so long that everything is allowed`,
    'long-lost-with-copy': `${unreachable}: ${copyFrom} is still obeyed`,
  }
  const refresh = deciding === latest ? '' : `; an early refresh found it unreachable (${causeOf(latest)})`
  return escapeControls(`${sentences[state]}${refresh}; the next attempt is due at ${formatTime(dueAt(entry, policy))}`)
}

/**
 * A site could write a name or a rule that continues our sentence in our words. In quotes it
 * remains the site's text.
 */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function namesOf({ agents }: Group): string {
  return agents.map((agent) => (/^[\w*./-]+$/.test(agent) ? agent : quoted(agent))).join(', ')
}

/**
 * Formats a time in UTC, to the second. An invalid time, which only a corrupt entry has, becomes
 * `an unknown time`.
 */
function formatTime(ms: number | undefined): string {
  const date = new Date(ms ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}

type Cause = Pick<Attempt, 'reason' | 'status' | 'detail'>

/** Descriptions of the reasons that are specific to robots.txt. */
const REASONS: Readonly<Record<Exclude<UnavailableReason, 'status'>, string>> = {
  'not-found-page': 'its page says "not found"',
  'too-many-redirects': 'too many redirects',
  'redirect-loop': 'its redirects form a loop',
  'no-usable-location': 'its redirect has no usable Location',
}

function withCause(sentence: string, access: Cause | undefined): string {
  return access === undefined ? sentence : `${sentence} (${causeOf(access)})`
}

function causeOf({ reason, status, detail }: Cause): string {
  if (reason === 'status') return `status ${status}`
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as keyof typeof REASONS]
  return detail === undefined ? reason : `${reason}: ${detail}`
}

function copyNotes(access: Access | undefined): string[] {
  const notes: string[] = []
  if (access?.copy?.freshness === 'stale') {
    notes.push(`according to the last good copy, because robots.txt is ${access.outcome} (${causeOf(access)})`)
  }
  if (access?.copy?.truncated) notes.push('robots.txt is larger than the size limit, so its end was not read')
  return notes
}
