import type { Fix } from '@politely/core/review'

/** What the button of a quick fix says. */
export function fixTitle({ after }: Fix): string {
  if (after === undefined) return 'Remove the line'
  return `Write ${after
    .split(/\r\n|\r|\n/)
    .map((line) => `"${line.trim()}"`)
    .join(' and ')}`
}
