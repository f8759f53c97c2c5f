// Comments of a robots.txt file that suppress findings.
import { findingKinds } from '../lint/finding-kinds.ts'

/** What the comments of a file suppress. */
export interface IgnoredFindings {
  /** The codes by line. Line 0 is the whole file. */
  readonly byLine: ReadonlyMap<number, ReadonlySet<string>>
  /** The first code that no finding has; undefined without one. */
  readonly unknown: { readonly line: number; readonly code: string } | undefined
}

/**
 * Returns the codes that comments suppress: `# politely-ignore CODE …` at the end of a line is
 * about this line, and alone on a line about the next one. In the first line it is also about the
 * whole file.
 */
export function ignoredFindings(lines: readonly string[]): IgnoredFindings {
  const byLine = new Map<number, Set<string>>()
  let unknown: IgnoredFindings['unknown']
  for (const [i, line] of lines.entries()) {
    const [, before = '', list = ''] = /^([^#]*)#\s*politely-ignore\s+([^#]+)/.exec(line) ?? []
    for (const code of list.split(/[\s,]+/).filter((each) => each !== '')) {
      if (!Object.hasOwn(findingKinds, code)) unknown ??= { line: i + 1, code }
      const about = before.trim() === '' ? i + 2 : i + 1
      for (const number of i === 0 ? [0, about] : [about])
        byLine.set(number, (byLine.get(number) ?? new Set()).add(code))
    }
  }
  return { byLine, unknown }
}
