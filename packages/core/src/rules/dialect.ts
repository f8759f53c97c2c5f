// The named readings of robots.txt, as data. Where they part stands in this table and nowhere else.

export interface Dialect {
  /**
   * What a rule is compared with.
   * `as-sent`: the URL as a client sends it, and the rule, both in RFC 9309 §2.2.2's form.
   * `as-given`: what google/robotstxt cuts out of the string, as it stands; only the rule is brought to a form.
   */
  readonly target: 'as-sent' | 'as-given'
  /**
   * Whether a crawler whose token has digits (`MJ12bot`) finds the group of that name. RFC 9309 §2.2.1 knows no digits, so
   * `ignored` cuts the line's token before the first one and finds nothing.
   */
  readonly digitsInTokens: 'matched' | 'ignored'
  /** Whether `/robots.txt` is allowed whatever the rules say. RFC 9309 §2.2.2; google/robotstxt leaves it to its callers. */
  readonly robotsTxtItself: 'allowed' | 'by-rules'
  /** Whether a rule with no path is reported as the one that matched. It decides nothing either way. */
  readonly emptyRules: 'ignored' | 'reported'
}

/** The dialects by name. */
export type DialectName = 'rfc9309' | 'google'

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  /** RFC 9309 with the reference's leniency in reading the file, and real product tokens. The default. */
  rfc9309: { target: 'as-sent', digitsInTokens: 'matched', robotsTxtItself: 'allowed', emptyRules: 'ignored' },
  /** google/robotstxt: its verdict and its line for any string. */
  google: { target: 'as-given', digitsInTokens: 'ignored', robotsTxtItself: 'by-rules', emptyRules: 'reported' },
}
