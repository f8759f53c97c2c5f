// The results of `politely evidence` for people, the most important first.
import type {
  EvidenceExplanation,
  EvidenceFinding,
  NotReplayable,
  Replay,
  ReplayDifference,
  Verification,
} from '@politely/evidence/audit'
import { bold, countText, dim, green, joined, linesOf, printable, red, safeText, yellow } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'

export function verificationText(result: Verification, found: readonly EvidenceFinding[]): string {
  const { errors, notes, chains, limits } = result
  const files = countText(new Set(chains.flatMap((chain) => chain.files)).size, 'file')
  const counts = [
    countText(result.records, 'record'),
    countText(result.decisions, 'decision'),
    countText(result.results, 'result'),
    countText(result.robotsFiles, 'robots.txt', 'robots.txt'),
  ].join(', ')
  const head = errors === 0 ? green('nothing is missing or changed') : red(countText(errors, 'error'))
  const noted = notes === 0 ? '' : `, ${countText(notes, 'note')}`
  const about = `${head}${noted}: ${counts} in ${files} of ${countText(chains.length, 'chain')}\n`
  const rows = [...of(found, 'error'), ...of(found, 'note')].map(findingText)
  const more = errors + notes - found.length
  return joined([
    `${about}${rows.join('')}${more > 0 ? dim(`and ${more} more, which --format json prints\n`) : ''}`,
    `${[bold("What this check can't see"), ...limits.map((text) => `  ${hang(safeText(text), 2)}`)].join('\n')}\n`,
  ])
}

function of(found: readonly EvidenceFinding[], level: EvidenceFinding['level']): readonly EvidenceFinding[] {
  return found.filter((finding) => finding.level === level)
}

function findingText({ level, problem, file, line, chain }: EvidenceFinding): string {
  const where = file === undefined ? `chain ${chain}` : `${file}:${line}`
  const text = `${safeText(where)}  ${safeText(problem)}`
  return `${level === 'error' ? red('error') : yellow('note ')}  ${hang(text, 7)}\n`
}

const WHY: Readonly<Record<NotReplayable, string>> = {
  'hashed-url': 'the URL is hashed',
  'removed-credentials': 'the URL had credentials, and was invalid',
  'robots-txt-missing': 'its robots.txt is missing',
  'robots-txt-damaged': 'its robots.txt was changed',
  unreadable: "the record can't be read",
  'newer-version': 'a newer version has written it',
}

/** @param isWhatIf Whether the decisions were made for another crawler or dialect. */
export function replayText(result: Replay, found: readonly ReplayDifference[], isWhatIf: boolean): string {
  const { decisions, same, different, nowAllowed, nowDisallowed, notReplayable, unreadableLines, changes } = result
  const all = countText(decisions, 'decision')
  const verb = isWhatIf ? 'would be different' : 'come out differently'
  const head =
    different === 0
      ? `${green(`no decision ${isWhatIf ? 'would be different' : 'comes out differently'}`)}: ${same.toLocaleString('en')} of ${all} are the same`
      : `${(isWhatIf ? yellow : red)(`${different.toLocaleString('en')} of ${all} ${verb}`)}: ${nowAllowed} now allowed, ${nowDisallowed} now disallowed, ${different - nowAllowed - nowDisallowed} by another line`
  const skipped = Object.entries(notReplayable) as [NotReplayable, number][]
  const notes = [
    ...skipped.map(([why, count]) => `${yellow('not replayable')}  ${countText(count, 'decision')}: ${WHY[why]}\n`),
    unreadableLines > 0
      ? `${yellow('not readable')}  ${countText(unreadableLines, 'line')}; politely evidence verify says why\n`
      : '',
  ].join('')
  const groups = changes.map(({ origin, count, recorded, replayed, examples }) => {
    const first = found.find(({ url }) => url === examples[0])
    const rows = linesOf(
      8,
      [
        ['recorded', safeText(recorded.text)],
        [isWhatIf ? 'then' : 'now', safeText(replayed.text)],
        ['such as', examples.map((url) => printable(url))],
        ['first in', first && `${first.file}:${first.line}`],
      ],
      hang,
      '  ',
    )
    return `${[bold(`${countText(count, 'decision')} about ${printable(origin)}`), ...rows].join('\n')}\n`
  })
  return joined([`${head}\n${notes}`, ...groups])
}

export function explanationText({ sentences, lines, found }: EvidenceExplanation): string {
  const [first = '', ...others] = sentences
  const paint = found === 'recorded' ? bold : yellow
  const width = String(lines.at(-1)?.line ?? '').length
  const drawn = lines.map(({ line, text, decides }) => {
    const row = `${decides ? red('▶') : ' '} ${dim(`${String(line).padStart(width)} │`)} ${decides ? bold(printable(text)) : printable(text)}`
    return `${row.trimEnd()}\n`
  })
  return joined([
    `${paint(hang(safeText(first), 0))}\n`,
    drawn.join(''),
    others.map((text) => `${hang(safeText(text), 0)}\n`).join(''),
  ])
}
