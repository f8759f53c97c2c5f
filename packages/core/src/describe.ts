// A verdict as a sentence for people. Programs read the verdict itself: these words may change.
import { type Attempt, decidingAttempt, dueAt, type Entry } from './access/entry.ts'
import type { UnavailableReason } from './access/outcome.ts'
import type { AccessPolicy } from './access/policy.ts'
import { stateOf } from './access/state.ts'
import type { Access, Verdict } from './decide.ts'
import { explainUrlProblem } from './url/origin.ts'

/** A verdict, and where it came from if that is known. */
export type Describable = Verdict & { readonly access?: Access }

/** `disallowed: line 3 of robots.txt says "Disallow: /private" to *`, and the like; what a site wrote is made safe to print. */
export function describeVerdict(verdict: Describable): string {
  return `${verdict.allowed ? 'allowed' : 'disallowed'}: ${describeReason(verdict)}`
}

/** The same without the first word. */
export function describeReason(verdict: Describable): string {
  return escapeControls([reasonOf(verdict), ...notesOn(verdict.access)].join('; '))
}

function reasonOf(verdict: Describable): string {
  switch (verdict.because) {
    case 'rule': {
      const { directive, text, line } = verdict.rule
      const field = directive === 'allow' ? 'Allow' : 'Disallow'
      return `line ${line} of robots.txt says "${field}: ${text}" to ${verdict.group.agents.join(', ')}`
    }
    case 'no-rule-matched':
      return `no rule of the group for ${verdict.group.agents.join(', ')} (line ${verdict.group.line}) matches`
    case 'no-group':
      return 'robots.txt has no group for this crawler'
    case 'robots-txt-itself':
      return '/robots.txt may always be fetched'
    case 'other-origin':
      return `the rules are those of ${verdict.fileOrigin}, not of ${verdict.origin}`
    case 'invalid-url':
      return explainUrlProblem(verdict.problem)
    case 'unavailable':
      return `there is no robots.txt (${causeOf(verdict.access)})`
    case 'unreachable':
      return `robots.txt is unreachable (${causeOf(verdict.access)})`
    case 'restricted':
      return `the site refuses to show its robots.txt (${causeOf(verdict.access)})`
    case 'unreachable-too-long':
      return `robots.txt has been unreachable for so long that it counts as unavailable (${causeOf(verdict.access)})`
  }
}

/** What an origin's robots.txt is about to people who ask why: one sentence. */
export function describeState(entry: Entry | undefined, now: number, policy: AccessPolicy): string {
  const state = stateOf(entry, now, policy)
  if (entry === undefined) return 'robots.txt has not been asked for yet'
  const { latest, copy, unreachableSince, failures } = entry
  const deciding = decidingAttempt(entry, now, policy)
  const cause = causeOf(deciding)
  const since = `robots.txt is unreachable (${cause}), ${failures === 1 ? 'once' : `${failures} times in a row`}`
  const lost = `${since} since ${moment(unreachableSince)}`
  const byCopy = `the copy of ${moment(copy?.confirmedAt)} is obeyed`
  const sentences: Readonly<Record<typeof state, string>> = {
    unknown: '',
    rules: `robots.txt is known (${cause}) and obeyed`,
    unavailable: `there is no robots.txt (${cause}): everything is allowed`,
    'unavailable-with-copy': `there is no robots.txt now (${cause}): ${byCopy} for some time more`,
    restricted: `the site refuses to show its robots.txt (${cause}): everything is disallowed`,
    lost: `${lost}: everything is disallowed`,
    'lost-with-copy': `${lost}: ${byCopy}`,
    'long-lost': `${lost}, which is so long that everything is allowed`,
    'long-lost-with-copy': `${lost}, and still ${byCopy}`,
  }
  const ahead = deciding === latest ? '' : `; asked again before its end it was unreachable (${causeOf(latest)})`
  return escapeControls(`${sentences[state]}${ahead}; the next attempt is due at ${moment(dueAt(entry, policy))}`)
}

/** UTC, to the second. */
function moment(ms: number | undefined): string {
  const date = new Date(ms ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? 'some time' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}

type Cause = Pick<Attempt, 'reason' | 'status' | 'detail'>

/** Sentences for the reasons that are codes. */
const REASONS: Readonly<Record<Exclude<UnavailableReason, 'status'>, string>> = {
  'not-found-page': 'its page says that nothing was found',
  'too-many-redirects': 'it is behind more redirects than are followed',
  'redirect-loop': 'its redirects go round in a circle',
  'no-usable-location': 'it redirects without saying where to',
}

function causeOf(access: Cause | undefined): string {
  if (access === undefined) return 'not fetched'
  const { reason, status, detail } = access
  if (reason === 'status') return `status ${status}`
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as keyof typeof REASONS]
  return detail === undefined ? reason : `${reason}: ${detail}`
}

function notesOn(access: Access | undefined): string[] {
  const copy = access?.copy
  const notes: string[] = []
  if (copy?.freshness === 'stale') {
    notes.push(`by the last good copy, since robots.txt is ${access?.outcome} (${causeOf(access)})`)
  }
  if (copy?.truncated) notes.push('robots.txt is over the size limit, and its end was not read')
  return notes
}

/**
 * Text from elsewhere, safe to print: controls, invisible format characters and line separators become escapes. A site writes
 * its own rules: they shall not move a terminal's cursor, recolour it, or turn the writing around.
 */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`)
}
