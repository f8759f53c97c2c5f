import { type UsageParts, usageCases, usageChannelCases } from '@politely/testkit/cases/usage-cases'
import { describe, expect, it } from 'vitest'
import { parseRobots } from '../../src/index.ts'
import { purposes, type Usage, usageOf } from '../../src/usage/index.ts'

const SITE = 'https://site.example'
const now = Date.UTC(2026, 10, 26)

function usage({ robots, headers, html, tdmrep }: UsageParts, path = '/page', token = 'ExampleBot'): Usage {
  const file = robots === undefined ? undefined : parseRobots(robots, { origin: SITE })
  return usageOf({ robots: file, url: SITE + path, tokens: token, headers, html, tdmrep, now })
}

/** Returns the answers other than `unstated`. */
function answersOf({ purposes }: Usage): Record<string, string> {
  const answers = Object.entries(purposes).map(([purpose, { answer }]) => [purpose, answer])
  return Object.fromEntries(answers.filter(([, answer]) => answer !== 'unstated'))
}

describe('usageOf', () => {
  it.each(usageCases)('$name', ({ path, token, answers, conflicts, licenses = [], ...parts }) => {
    const result = usage(parts, path, token)
    expect(answersOf(result)).toEqual(answers)
    if (conflicts !== undefined)
      expect(result.conflicts.map(({ kind, purpose }) => [kind, purpose].join(' ').trim()).toSorted()).toEqual(
        conflicts.toSorted(),
      )
    else expect(result.licenses.filter(({ applies }) => applies).map(({ url }) => url)).toEqual(licenses)
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  })

  const cells = usageChannelCases.flatMap(({ channel, parts, cells }) =>
    Object.entries(cells).flatMap(([purpose, list]) => list.map((cell) => ({ channel, parts, purpose, ...cell }))),
  )
  it.each(cells)('$channel: $value about $purpose', ({ parts, value, purpose, answer, from }) => {
    const { statements, ...about } = usage(parts(value)).purposes[purpose as 'index']
    expect(about).toEqual({ answer, combination: 'one-statement' })
    expect('reading' in (statements[0] as object) && statements[0]).toEqual(
      'reading' in (statements[0] as object) &&
        expect.objectContaining({ reading: from === 'ours' ? 'ours' : 'document' }),
    )
  })

  it.each(usageChannelCases)('$channel states nothing about other purposes', ({ parts, cells }) => {
    const values = Object.values(cells).flat()
    const others = purposes.filter((purpose) => !Object.hasOwn(cells, purpose))
    for (const { value } of values)
      for (const purpose of others) expect(usage(parts(value)).purposes[purpose].answer).toBe('unstated')
  })
})
