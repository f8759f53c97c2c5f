// What a robots.txt says about the use of a page, for `politely explain`.
import type { Robots } from '@politely/core'
import {
  describeStatement,
  type PolicyToken,
  purposes,
  type Statement,
  type Usage,
  usageOf,
} from '@politely/core/usage'
import { printable, section } from '../../output/style.ts'
import { answerRow } from '../../output/usage-rows.ts'
import { hang } from '../../output/wrap.ts'

/**
 * Returns the preferences on use that apply to the crawler, the licenses, and the preferences of the
 * group for `*` that the crawler does not read, because it has a group of its own.
 */
export function usageLines(
  robots: Robots,
  url: string,
  tokens: readonly string[],
  policyTokens: readonly PolicyToken[],
): string {
  const usage = usageOf({ robots, url, tokens, policyTokens })
  const stated = purposes.filter((purpose) => usage.purposes[purpose].answer !== 'unstated')
  const rows = [
    ...stated.map((purpose) => answerRow(purpose, usage.purposes[purpose])),
    ...usage.licenses
      .filter(({ applies }) => applies)
      .map(({ url: license, source }) => `  license ${hang(`${printable(license)} (line ${source.line})`, 10)}`),
  ]
  const known = new Set(statementsIn(usage).map(describeStatement))
  const ofAll = statementsIn(usageOf({ robots, url, tokens: '*' }))
  const hidden = ofAll.toSorted((a, b) => Number(a.source.line) - Number(b.source.line)).map(describeStatement)
  const others = [...new Set(hidden)].filter((text) => !known.has(text)).map((text) => `  ${hang(text, 2)}`)
  return [
    section('Preferences on use in this file (politely usage reads the page, too):', rows),
    section('Preferences of the group for *, which is not for this crawler:', others),
  ].join('')
}

function statementsIn({ purposes }: Usage): readonly Statement[] {
  return Object.values(purposes).flatMap(({ statements }) => statements)
}
