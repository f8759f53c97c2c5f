// Explains the verdict for one URL in every dialect, and which deviations of the dialect cause a
// different verdict.
import type { HasBytes } from './bytes.ts'
import { type Deviation, type Dialect, type DialectName, deviations, dialects } from './dialect.ts'
import { assertKnownOptions } from './known-options.ts'
import type { Explanation } from './match/explanation.ts'
import type { ProductTokens } from './parse/product-tokens.ts'
import { type ParseOptions, parseRobots } from './parse-robots.ts'
import type { HasHref } from './url/origin.ts'

/** One dialect's verdict, explained. */
export interface DialectAnswer {
  readonly explanation: Explanation
  /**
   * Why the dialect allows or disallows the URL differently from `rfc9309`: each deviation that
   * changes the verdict alone; or, if only several together change it, all deviations in parsing.
   * Empty if both verdicts agree.
   */
  readonly parts: readonly Deviation[]
}

/**
 * Explains the verdict in each dialect. Parses the file once for each dialect and deviation, so use
 * it for diagnosis, not for crawling.
 *
 * @throws {OptionError} as `parseRobots` and `Robots.explain` do.
 */
export function explainDialects(
  source: Uint8Array | string | HasBytes,
  url: string | HasHref,
  productTokens: ProductTokens,
  options: Pick<ParseOptions, 'origin'> = {},
): Readonly<Record<DialectName, DialectAnswer>> {
  assertKnownOptions(options, { origin: true }, '{ origin: "https://example.com" }')
  const explain = (dialect: Dialect) => parseRobots(source, { ...options, dialect }).explain(url, productTokens)
  const rfc9309Allows = explain(dialects.rfc9309).verdict.allowed
  const answerOf = (name: DialectName): DialectAnswer => {
    const explanation = explain(dialects[name])
    if (explanation.verdict.allowed === rfc9309Allows) return { explanation, parts: [] }
    const inParsing = deviations[name].filter(({ question }) => question in dialects.rfc9309.parsing)
    const alone = inParsing.filter((deviation) => explain(withDeviation(deviation)).verdict.allowed !== rfc9309Allows)
    return { explanation, parts: alone.length > 0 ? alone : inParsing }
  }
  return {
    rfc9309: answerOf('rfc9309'),
    google: answerOf('google'),
    'draft-koster-rep-00': answerOf('draft-koster-rep-00'),
    'koster-1996': answerOf('koster-1996'),
    'original-1994': answerOf('original-1994'),
  }
}

/** Returns RFC 9309 with one deviation. */
function withDeviation({ question, answer }: Deviation): Dialect {
  const { rfc9309 } = dialects
  return { ...rfc9309, name: question, parsing: { ...rfc9309.parsing, [question]: answer } }
}
