import { differences } from '@politely/testkit/cases/differences'
import { verdictText } from '@politely/testkit/cases/rules-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { describe, expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))

describe('where libraries differ', () => {
  it.each(differences)('$name', ({ robots, url, agent, google, rfc9309 }) => {
    const verdicts = (['google', 'rfc9309'] as const).map((dialect) =>
      verdictText(parseRobots(bytes(robots), { dialect }).check(url, agent)),
    )
    expect(verdicts).toEqual([google, rfc9309])
  })

  it('a case has a reason if and only if the verdict differs from google/robotstxt', () => {
    const firstWord = (verdict: string) => verdict.split(/[ :]/)[0]
    const different = differences.filter(({ google, rfc9309 }) => firstWord(google) !== firstWord(rfc9309))
    expect(different).toEqual(differences.filter(({ why }) => why !== undefined))
  })

  it('docs/reference/conformance.md has the current table', { tags: 'page' }, async () => {
    const rows = differences.map(({ name, google, rfc9309, why }) => [
      name,
      google,
      why ? rfc9309 : 'the same',
      why ?? '',
    ])
    const head = ['difference', '`google`', '`rfc9309`', 'why']
    await expectTables('docs/reference/conformance.md', { head, rows })
  })
})
