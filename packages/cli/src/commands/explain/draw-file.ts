// Draws the lines of a robots.txt around what decides about one URL.
import type { Explanation, Match, Robots } from '@politely/core'
import { fieldsOf } from '@politely/core/review'
import { bold, dim, green, printable, red } from '../../output/style.ts'

/** Lines around a line of interest that are drawn too. */
const CONTEXT = 1

/**
 * Returns the lines with their numbers. `●` marks the lines of the groups that apply, `▶` the line
 * that decides, `=` other rules that match. Lines far from these are left out.
 */
export function drawFile(robots: Robots, explanation: Explanation): string {
  const lines = linesOf(robots.text)
  const ranges = rangesOf(robots, explanation)
  const [winner, ...others] = explanation.matches
  const isShown = new Uint8Array(lines.length + 2)
  const show = (line: number) =>
    isShown.fill(1, Math.max(1, line - CONTEXT), Math.min(lines.length, line + CONTEXT) + 1)
  for (const { line } of explanation.matches) show(line)
  for (const { line } of explanation.groups) show(line)
  // A short file is drawn whole.
  if (lines.length <= 30) isShown.fill(1)
  const width = String(lines.length).length
  const drawn: string[] = []
  let skipped = 0
  for (const [i, line] of lines.entries()) {
    const number = i + 1
    if (isShown[number] === 0) {
      skipped++
      continue
    }
    if (skipped > 0) drawn.push(dim(`  ${' '.repeat(width)} ⋮  ${skipped} lines`))
    skipped = 0
    drawn.push(rowOf(number, line, width, markOf(number, winner, others, ranges)))
  }
  if (skipped > 0) drawn.push(dim(`  ${' '.repeat(width)} ⋮  ${skipped} lines`))
  return `${drawn.join('\n')}\n`
}

type Mark = 'decides' | 'matches' | 'group' | 'none'

function markOf(
  number: number,
  winner: Match | undefined,
  others: readonly Match[],
  ranges: readonly (readonly [number, number])[],
): Mark {
  if (winner?.line === number) return 'decides'
  if (others.some(({ line }) => line === number)) return 'matches'
  return ranges.some(([from, to]) => number >= from && number <= to) ? 'group' : 'none'
}

function rowOf(number: number, line: string, width: number, mark: Mark): string {
  const [sign, paint] = SIGNS[mark]
  return `${paint(sign)} ${dim(`${String(number).padStart(width)} │`)} ${mark === 'decides' ? bold(printable(line)) : printable(line)}`.trimEnd()
}

const SIGNS: Readonly<Record<Mark, readonly [string, (text: string) => string]>> = {
  decides: ['▶', red],
  matches: ['=', green],
  group: ['●', dim],
  none: [' ', dim],
}

/** From the first user-agent line of a group to its last field. A sitemap is for all crawlers. */
function rangesOf(robots: Robots, explanation: Explanation): readonly (readonly [number, number])[] {
  const { fields, groups } = fieldsOf(robots)
  const ends = new Map<number | undefined, number>()
  for (const { field, group, line } of fields) if (field !== 'sitemap') ends.set(group, line)
  return explanation.groups.map(({ line }) => {
    const group = groups.findIndex((each) => each.line === line)
    return [line, ends.get(group) ?? line]
  })
}

/** LF, CR and CR LF end a line, as in the parser. RFC 9309 §2.2. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
