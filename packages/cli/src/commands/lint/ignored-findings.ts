// Comments that suppress findings of `politely lint`.
import { findingKinds } from '@politely/core'
import { UsageError } from '../../errors.ts'

/**
 * Returns the codes that comments suppress, by line: `# politely-ignore CODE …` at the end of a
 * line is about this line, and alone on a line about the next one. In the first line it is also
 * about the whole file.
 * @throws {UsageError} for an unknown code, which would otherwise suppress nothing in silence.
 */
export function ignoredIn(lines: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const ignored = new Map<number, Set<string>>()
  for (const [i, line] of lines.entries()) {
    const [, before = '', list = ''] = /^([^#]*)#\s*politely-ignore\s+([^#]+)/.exec(line) ?? []
    for (const code of list.split(/[\s,]+/).filter((each) => each !== '')) {
      if (!Object.hasOwn(findingKinds, code))
        throw new UsageError(
          `line ${i + 1}: politely-ignore: ${JSON.stringify(code)} is no code of a finding; write one that politely lint prints`,
        )
      const about = before.trim() === '' ? i + 2 : i + 1
      for (const number of i === 0 ? [0, about] : [about])
        ignored.set(number, (ignored.get(number) ?? new Set()).add(code))
    }
  }
  return ignored
}
