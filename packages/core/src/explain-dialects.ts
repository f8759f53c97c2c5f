// One file, one URL, every dialect: what each answers, and on which question they part.
import { type Deviation, type Dialect, type DialectName, deviations, dialects } from './dialect.ts'
import type { Explanation } from './match/explanation.ts'
import { type ParseOptions, parseRobots } from './parse.ts'
import type { ProductTokens } from './robots.ts'
import type { HasHref } from './url/origin.ts'

export interface DialectAnswer {
  readonly explanation: Explanation
  /**
   * Where it parts with `rfc9309`: each departure that alone changes who is allowed, or, where only several together do, all of
   * them. Empty where both answer the same.
   */
  readonly parts: readonly Deviation[]
}

/** What each dialect says. Reads the file once for each dialect and each departure: for people, not for crawling. */
export function explainDialects(
  source: Uint8Array | string,
  url: string | HasHref,
  productTokens: ProductTokens,
  options: Pick<ParseOptions, 'origin'> = {},
): Readonly<Record<DialectName, DialectAnswer>> {
  const explain = (dialect: Dialect) => parseRobots(source, { ...options, dialect }).explain(url, productTokens)
  const usual = explain(dialects.rfc9309).verdict.allowed
  const answerOf = (name: DialectName): DialectAnswer => {
    const explanation = explain(dialects[name])
    if (explanation.verdict.allowed === usual) return { explanation, parts: [] }
    const ofReading = deviations[name].filter(({ question }) => question in dialects.rfc9309.parsing)
    const alone = ofReading.filter((departure) => explain(departing(departure)).verdict.allowed !== usual)
    return { explanation, parts: alone.length > 0 ? alone : ofReading }
  }
  return {
    rfc9309: answerOf('rfc9309'),
    google: answerOf('google'),
    'draft-koster-rep-00': answerOf('draft-koster-rep-00'),
    'koster-1996': answerOf('koster-1996'),
    'original-1994': answerOf('original-1994'),
  }
}

/** RFC 9309 with one answer changed. */
function departing({ question, answer }: Deviation): Dialect {
  const { rfc9309 } = dialects
  return { ...rfc9309, name: question, parsing: { ...rfc9309.parsing, [question]: answer } }
}
