// A verdict as a sentence for people. Programs read the verdict itself: these words may change.
import type { Access, Verdict } from './decide.ts'
import { explainUrlProblem } from './url/origin.ts'

/** A verdict, and where it came from if that is known. */
export type Describable = Verdict & { readonly access?: Access }

/** `disallowed: line 3 of robots.txt says "Disallow: /private" to *`, and the like. */
export function describeVerdict(verdict: Describable): string {
  return `${verdict.allowed ? 'allowed' : 'disallowed'}: ${reasonOf(verdict)}${noteOn(verdict.access)}`
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

function causeOf(access: Access | undefined): string {
  if (access === undefined) return 'not fetched'
  const { reason, status, detail } = access
  if (reason === 'status') return `status ${status}`
  return detail === undefined ? reason : `${reason}: ${detail}`
}

function noteOn(access: Access | undefined): string {
  const copy = access?.copy
  const notes = [
    copy?.freshness === 'stale' ? `by the last good copy, since robots.txt is unreachable (${causeOf(access)})` : '',
    copy?.truncated ? 'robots.txt is over the size limit, and its end was not read' : '',
  ].filter((note) => note !== '')
  return notes.length === 0 ? '' : `; ${notes.join('; ')}`
}
