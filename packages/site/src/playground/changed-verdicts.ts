// What a screen reader says after a change.
import { describeVerdict } from '@politely/core'
import { crawlerTitle } from '@politely/playground/matrix'
import { count } from './dom.ts'
import type { Shown } from './shown.ts'

/** Describes the first changed verdict, and counts the others. Returns an empty text if none changed. */
export function changedVerdicts(old: Shown, now: Shown): string {
  const { urls, crawlers } = now.state
  if (old.state.urls !== urls || old.state.crawlers !== crawlers) return '' // other cells
  const changed = now.matrix.flatMap((row, i) =>
    row.flatMap(({ verdict }, j) =>
      verdict.allowed === old.matrix[i]?.[j]?.verdict.allowed ? [] : [{ verdict, url: urls[i], crawler: crawlers[j] }],
    ),
  )
  const [first, ...others] = changed
  if (first === undefined) return ''
  const more = others.length > 0 ? ` And ${count(others.length, 'more verdict')} changed.` : ''
  return `${first.url} for ${crawlerTitle(first.crawler ?? '')} is now ${describeVerdict(first.verdict)}.${more}`
}
