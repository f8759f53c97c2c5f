// The linter and the fixes compare the same forms as the matcher.
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { bytesOfLatin1, rangeOf } from '../src/bytes.ts'
import { type DialectName, dialects, parseRobots } from '../src/index.ts'
import { tracePattern } from '../src/internal.ts'
import { allowsAt, nextRuleOffset, ruleAt } from '../src/match/packed-rules.ts'
import { isRule, parseFields } from '../src/parse/records.ts'
import { END, formsOf } from '../src/parse/rule-forms.ts'

const PIECES = [
  '/',
  '/',
  'a',
  'b',
  '*',
  '*',
  '$',
  'index.html',
  'index.htm',
  '%61',
  '%7e',
  '%',
  '\xc3\xa9',
  '?',
  '.',
  "'",
]

/** The rules of a file as the matcher has them. */
function packedForms(bytes: Uint8Array, dialect: DialectName) {
  const { packed, groupsAt } = parseRobots(bytes, { dialect }).forCrawler('*').toJSON()
  const rules = bytesOfLatin1(packed)
  const found = []
  for (let offset = 0; offset < groupsAt; offset = nextRuleOffset(rules, offset, rules.indexOf(10, offset))) {
    found.push({ allows: allowsAt(rules, offset), form: ruleAt(rules, offset).form })
  }
  return found
}

it('has the same forms as the matcher, in every dialect', () => {
  let compared = 0
  for (let seed = 1; seed <= sampled(3_000); seed++) {
    const random = seededRandom(seed)
    const some = (most: number) =>
      Array.from({ length: Math.floor(most * random()) }, () => pick(random, PIECES)).join('')
    const bytes = bytesOfLatin1(
      `User-agent: *\n${pick(random, ['Allow', 'Disallow'])}: ${pick(random, ['/', '*', ''])}${some(6)}\n`,
    )
    const path = `/${some(6).replace(/[*$]/g, 'x')}`
    for (const dialect of Object.keys(dialects) as DialectName[]) {
      const { parsing } = dialects[dialect]
      const rules = parseFields(rangeOf(bytes), parsing).fields.filter(isRule)
      const forms = rules.flatMap((rule) => formsOf(rule, parsing))
      const open = parsing.wildcards === 'special' ? '*' : '' // a `$` at the end of a base is literal
      const packed = packedForms(bytes, dialect).filter(
        ({ form }) => form !== '' || parsing.emptyRules === 'allows-all',
      )
      expect(forms.map(({ length }) => length)).toEqual(packed.map(({ form }) => form.length))
      for (const [i, { form, allows }] of packed.entries()) {
        const { base, allows: isAllow } = forms[i] as (typeof forms)[number]
        expect(isAllow).toBe(allows)
        const short = base.endsWith(END) ? `${base.slice(0, -1)}$` : `${base}${open}`
        const [own, other] = [form, short].map((one) => tracePattern(one, path, parsing.wildcards).matches)
        expect(other, `${form} and ${short}, path ${path}, ${dialect}`).toBe(own)
        compared++
      }
    }
  }
  expect(compared).toBeGreaterThan(sampled(10_000))
})
