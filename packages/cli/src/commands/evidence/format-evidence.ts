// The results of `politely evidence` for people, the most important first.
import type {
  EvidenceExplanation,
  EvidenceFinding,
  Replay,
  ReplayDifference,
  Verification,
} from '@politely/evidence/audit'
import { bold, countText, dim, green, joined, printable, red, safeText, yellow } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'

export function verificationText(result: Verification, findings: readonly EvidenceFinding[]): string {
  const { errors, notes, records, decisions, results, robotsFiles, files, chains, limits } = result
  const head = errors === 0 ? green('nothing is missing or changed') : red(countText(errors, 'error'))
  const counts = [
    countText(records, 'record'),
    countText(decisions, 'decision'),
    countText(results, 'result'),
    countText(robotsFiles, 'robots.txt', 'robots.txt'),
  ].join(', ')
  const where = `${countText(files, 'file')} of ${countText(chains, 'chain')}`
  const rows = findings
    .toSorted((a, b) => a.level.localeCompare(b.level))
    .map(({ level, problem, file, line }) => {
      const mark = level === 'error' ? red('error') : yellow('note ')
      return `${mark}  ${hang(safeText(`${file}:${line}  ${problem}`), 7)}\n`
    })
  return joined([
    `${head}${notes === 0 ? '' : `, ${countText(notes, 'note')}`}: ${counts} in ${where}\n${rows.join('')}${more(errors + notes, findings)}`,
    `${[bold("What this check can't see"), ...limits.map((text) => `  ${hang(safeText(text), 2)}`)].join('\n')}\n`,
  ])
}

/** @param isWhatIf Whether the decisions were made for another crawler or dialect. */
export function replayText(result: Replay, differences: readonly ReplayDifference[], isWhatIf: boolean): string {
  const { decisions, same, different, nowAllowed, nowDisallowed, notReplayable } = result
  const all = countText(decisions, 'decision')
  const others = different - nowAllowed - nowDisallowed
  const changes = `${nowAllowed} now allowed, ${nowDisallowed} now disallowed, ${others} by another line`
  const head =
    different === 0
      ? `${green('no decision comes out differently')}: ${same.toLocaleString('en')} of ${all} are the same`
      : `${(isWhatIf ? yellow : red)(`${different.toLocaleString('en')} of ${all} come out differently`)}: ${changes}`
  const skipped = Object.entries(notReplayable).map(
    ([why, count]) => `${yellow('not replayable')}  ${countText(count, 'decision')}: ${why}\n`,
  )
  const groups = differences.map(
    ({ url, file, line, recorded, replayed }) =>
      `${bold(printable(url))}  ${dim(safeText(`${file}:${line}`))}\n  recorded  ${hang(safeText(recorded), 12)}\n  ${isWhatIf ? 'then' : 'now '}      ${hang(safeText(replayed), 12)}\n`,
  )
  return joined([`${head}\n${skipped.join('')}`, ...groups, more(different, differences)])
}

function more(count: number, shown: readonly unknown[]): string {
  return count > shown.length ? dim(`and ${count - shown.length} more, which --format json prints\n`) : ''
}

export function explanationText({ sentences: [first = '', ...others], lines, decision }: EvidenceExplanation): string {
  const width = String(lines.at(-1)?.line ?? '').length
  const drawn = lines.map(({ line, text, decides }) => {
    const row = `${decides ? red('▶') : ' '} ${dim(`${String(line).padStart(width)} │`)} ${decides ? bold(printable(text)) : printable(text)}`
    return `${row.trimEnd()}\n`
  })
  return joined([
    `${(decision ? bold : yellow)(hang(safeText(first), 0))}\n`,
    drawn.join(''),
    others.map((text) => `${hang(safeText(text), 0)}\n`).join(''),
  ])
}
