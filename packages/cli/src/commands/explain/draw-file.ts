// Draws the lines of a robots.txt around what decides about one URL.
import type { Explanation, Group, Match } from '@politely/core'
import { bold, dim, green, printable, red } from '../../output/style.ts'

/** Lines around a line of interest that are drawn too. */
const CONTEXT = 1

/**
 * Returns the lines with their numbers. `●` marks the lines of the groups that apply, `▶` the line
 * that decides, `=` other rules that match. Lines far from these are left out.
 */
export function drawFile(text: string, explanation: Explanation): string {
  const lines = linesOf(text)
  const ranges = explanation.groups.map((group) => rangeOf(group, lines))
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

/** From the first user-agent line of a group to the line before the next group, without blanks. */
function rangeOf({ line }: Group, lines: readonly string[]): readonly [number, number] {
  let end = line
  let isInRules = false
  for (let i = line; i < lines.length; i++) {
    const text = lines[i] as string
    const isAgent = /^\s*user-?agent\b/i.test(text)
    if (isAgent && isInRules) break
    if (/^\s*(?:dis)?allow\b/i.test(text)) isInRules = true
    if (text.trim() !== '' && !/^\s*(?:#|sitemap\b)/i.test(text)) end = i + 1
  }
  return [line, end]
}

/** LF, CR and CR LF end a line, as in the parser. RFC 9309 §2.2. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
