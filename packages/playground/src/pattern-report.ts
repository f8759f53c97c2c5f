// The trace of one pattern over one URL, as the panel shows it.
import type { ParsingRules } from '@politely/core/internal'
import { tracePattern } from '@politely/core/internal'
import { printablePattern } from '@politely/core/review'

export interface PatternReport {
  readonly matches: boolean
  /** The pattern as written. */
  readonly text: string
  /** The pattern in normal form. */
  readonly form: string
  readonly target: string
  /** The parts of the pattern in order, with what each took. */
  readonly parts: readonly PatternPart[]
  /** The end of the URL that no part needs to take. */
  readonly rest: string
  /** Says in one sentence how it ended. */
  readonly summary: string
}

export interface PatternPart {
  /** `*`, `$` or literal text, in normal form. */
  readonly part: string
  /** What it took of the URL; undefined for a part that failed or was not tried. */
  readonly took: string | undefined
  readonly state: 'matched' | 'failed' | 'untried'
}

/** @param compare How the dialect compares. @param target The path of the URL in normal form. */
export function patternReport(text: string, compare: ParsingRules['compare'], target: string): PatternReport {
  const form = printablePattern(text, compare)
  const { matches, steps } = tracePattern(form, target)
  const all = partsOf(form)
  // A `*` takes nothing until the part after it was found, so this part is the one that failed.
  const failed = matches ? all.length : steps.length + (all[steps.length] === '*' ? 1 : 0)
  const parts = all.map((part, i): PatternPart => {
    const step = steps[i]
    if (step !== undefined) return { part, took: target.slice(step.start, step.end), state: 'matched' }
    return { part, took: undefined, state: i === failed ? 'failed' : 'untried' }
  })
  const at = steps.at(-1)?.end ?? 0
  const rest = target.slice(at)
  return {
    matches,
    text,
    form,
    target,
    parts,
    rest,
    summary: summaryOf({ matches, form, parts, failed, rest, target }),
  }
}

/** Splits a pattern into its literal texts, `*` and the final `$`. */
function partsOf(form: string): readonly string[] {
  const isAnchored = form.endsWith('$')
  const parts = (isAnchored ? form.slice(0, -1) : form).split(/(\*)/).filter((part) => part !== '')
  return isAnchored ? [...parts, '$'] : parts
}

function summaryOf(trace: {
  readonly matches: boolean
  readonly form: string
  readonly parts: readonly PatternPart[]
  readonly failed: number
  readonly rest: string
  readonly target: string
}): string {
  const { matches, form, parts, failed, rest, target } = trace
  if (matches) {
    if (form.endsWith('$')) return 'The pattern matches the whole URL.'
    return rest === ''
      ? 'The pattern matches to the end of the URL.'
      : 'The pattern matches; without a final $, anything may follow.'
  }
  const part = parts[failed]?.part
  if (part === undefined || part === '$')
    return `The pattern ends here because of $, and the URL goes on with "${rest}".`
  if (failed === 0) return beginningText(part, target)
  const isLast = failed === parts.length - 2 && form.endsWith('$')
  if (isLast) return `The URL does not end with "${part}" in what is left of it, "${rest}".`
  return `"${part}" is not in what is left of the URL, "${rest}".`
}

/** Says where the beginnings of pattern and URL differ. */
function beginningText(part: string, target: string): string {
  let same = 0
  while (same < part.length && part[same] === target[same]) same++
  if (same === target.length) return `The URL ends before the pattern does: "${part.slice(same)}" is missing.`
  const common = same === 0 ? 'The first characters differ' : `Both begin with "${part.slice(0, same)}"`
  return `${common}; then the pattern has "${part.slice(same)}", and the URL "${target.slice(same)}".`
}
