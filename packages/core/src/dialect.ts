// Dialects: the ways in which crawlers have parsed robots.txt, as data. A dialect covers parsing
// and access, because a standard that defines what a rule means also defines what a missing file
// means.
//
// A dialect has one answer to each question on which the standards differ. Each dialect is defined
// by its differences from RFC 9309 (`deviations`), each with the section or reason. A test compares
// the table in docs/dialects.md with `deviations`.

/**
 * How robots.txt is parsed and how its rules are matched.
 * @inline
 */
export interface ParsingRules {
  /**
   * Which fields are recognised. `lenient`: by the beginning of the key, with frequent
   * misspellings, and without a colon if the line has exactly two words. `exact`: by the whole key,
   * in any case, followed by a colon.
   */
  readonly keys: 'lenient' | 'exact'
  /** What ends a group: a `user-agent` line after a rule, or a `blank-line`. */
  readonly groupEnd: 'user-agent' | 'blank-line'
  /**
   * When a user-agent line names a crawler. All compare without case.
   * - `token`: the leading characters `a-zA-Z_-` of its value equal the crawler's token.
   * - `token-or-digits`: the same, but if the crawler's token has digits, digits count too.
   * - `whole-value`: the value equals the token.
   * - `name`: the value without its version equals the crawler's name.
   * - `substring`: the value without its version is a substring of the crawler's name.
   */
  readonly agents: 'token' | 'token-or-digits' | 'whole-value' | 'name' | 'substring'
  /**
   * Which groups a crawler with several product tokens obeys.
   * - `first`: the groups of the first token that has a group.
   * - `all`: the groups of all tokens.
   */
  readonly severalTokens: 'first' | 'all'
  /**
   * Which of several groups for the same crawler apply, or of several groups for `*`.
   * - `merged`: all of them, as one group.
   * - `first-for-all`: all that name the crawler, but only the first for `*`.
   * - `first`: only the first, in both cases.
   */
  readonly groups: 'merged' | 'first-for-all' | 'first'
  /**
   * Whether a crawler without its own groups uses the groups for `*`. Google documents
   * `AdsBot-Google` as one that ignores them.
   */
  readonly groupsForAll: 'used' | 'ignored'
  /**
   * Which of the matching rules decides: the one with `most-octets`, and Allow on a tie; or the
   * `first` in the group.
   */
  readonly winner: 'most-octets' | 'first'
  /** Whether `Allow` is a `rule` or an `unknown` field. */
  readonly allow: 'rule' | 'unknown'
  /** Whether `*` and a final `$` in a pattern are `special` or `literal`. */
  readonly wildcards: 'special' | 'literal'
  /**
   * The form in which patterns and paths are compared. In all forms but `google`, the path is
   * spelled as a client sends it.
   * - `rfc9309`: both are encoded and decoded as RFC 9309 §2.2.2 says.
   * - `decoded`: every `%XX` except `%2F`, `%25` and `%0A` is decoded.
   * - `plain`: bytes outside ASCII are percent-encoded, and hex digits are in upper case.
   * - `google`: the pattern is as in `plain`; the path is taken from the caller's string,
   *   unchanged.
   */
  readonly compare: 'rfc9309' | 'decoded' | 'plain' | 'google'
  /**
   * What a `Disallow` or `Allow` without a path does.
   * - `nothing`: it is ignored.
   * - `reported`: it is ignored, but the verdict names it if no other rule matched.
   * - `allows-all`: it matches every path and allows it.
   */
  readonly emptyRules: 'nothing' | 'reported' | 'allows-all'
  /**
   * Whether `Allow: /dir/index.html` also allows the `folder` `/dir/`, or only that page (`plain`).
   */
  readonly indexPages: 'folder' | 'plain'
  /** Whether `/robots.txt` itself is always `allowed`, or checked `by-rules`. */
  readonly robotsTxtItself: 'allowed' | 'by-rules'
}

/**
 * What a missing or unreachable robots.txt means, and how long a file is valid, unless the caller's
 * options say otherwise.
 * @inline
 */
export interface AccessDefaults {
  /**
   * What 401 and 403 mean. `unavailable`: everything is allowed. `restricted`: everything is
   * disallowed.
   */
  readonly forbidden: 'unavailable' | 'restricted'
  /**
   * Until which age a copy is obeyed after the server has said that the file is unavailable. Hours.
   */
  readonly copyAfterUnavailableHours: 0 | 24
  /** How long a result is valid if its headers do not say. Hours. */
  readonly ttlHours: number
  /**
   * What to do while robots.txt is unreachable: obey the copy (`use-copy`), or disallow everything
   * (`disallow`).
   */
  readonly whenUnreachable: 'use-copy' | 'disallow'
  /**
   * After how many days of failed attempts an unreachable robots.txt counts as unavailable, or its
   * copy is obeyed also under `disallow`. Infinity: never.
   */
  readonly afterDays: number
}

/**
 * A named set of parsing rules and access defaults. Make your own from one of `dialects`: `{
 * ...dialects.rfc9309, name: 'mine', parsing: { ...dialects.rfc9309.parsing, winner: 'first' } }`.
 */
export interface Dialect {
  readonly name: string
  readonly parsing: ParsingRules
  readonly access: AccessDefaults
}

/** The names of the built-in dialects. */
export type DialectName = 'rfc9309' | 'google' | 'draft-koster-rep-00' | 'koster-1996' | 'original-1994'

/**
 * The parsing rules of dialect `rfc9309`: RFC 9309, with Google's lenient parsing, and with digits
 * in product tokens, which real files have.
 */
export const rfc9309Parsing: ParsingRules = {
  keys: 'lenient',
  groupEnd: 'user-agent',
  agents: 'token-or-digits',
  severalTokens: 'first',
  groups: 'merged',
  groupsForAll: 'used',
  winner: 'most-octets',
  allow: 'rule',
  wildcards: 'special',
  compare: 'rfc9309',
  emptyRules: 'nothing',
  indexPages: 'folder',
  robotsTxtItself: 'allowed',
}

/** The parsing rules of dialect `google`. `deviations` has the reasons. */
export const googleParsing: ParsingRules = {
  ...rfc9309Parsing,
  agents: 'token',
  severalTokens: 'all',
  compare: 'google',
  emptyRules: 'reported',
  robotsTxtItself: 'by-rules',
}

/** The default. */
const rfc9309: Dialect = {
  name: 'rfc9309',
  parsing: rfc9309Parsing,
  access: {
    forbidden: 'unavailable',
    copyAfterUnavailableHours: 0,
    ttlHours: 24,
    whenUnreachable: 'use-copy',
    afterDays: 30,
  },
}

/** One question that a dialect answers differently from `rfc9309`. */
export type Deviation = {
  [Q in keyof (ParsingRules & AccessDefaults)]: {
    readonly question: Q
    readonly answer: (ParsingRules & AccessDefaults)[Q]
    /** The section of the standard, or the reason. */
    readonly source: string
  }
}[keyof (ParsingRules & AccessDefaults)]

function deviation<Q extends Deviation['question']>(
  question: Q,
  answer: (ParsingRules & AccessDefaults)[Q],
  source: string,
): Deviation {
  return { question, answer, source } as Deviation
}

/** The differences of each dialect from `rfc9309`. */
export const deviations: Readonly<Record<DialectName, readonly Deviation[]>> = {
  rfc9309: [],
  google: [
    deviation('agents', googleParsing.agents, 'google/robotstxt ends a token at its first digit'),
    deviation(
      'severalTokens',
      googleParsing.severalTokens,
      'google/robotstxt merges the groups of all names that it is given',
    ),
    deviation(
      'compare',
      googleParsing.compare,
      'google/robotstxt normalises the pattern and leaves the URL to its caller',
    ),
    deviation('emptyRules', googleParsing.emptyRules, 'google/robotstxt reports the line of an empty rule'),
    deviation('robotsTxtItself', googleParsing.robotsTxtItself, 'google/robotstxt leaves this rule to its caller'),
  ],
  'draft-koster-rep-00': [
    deviation('agents', 'whole-value', '§2.2.1: the group that matches the product token exactly'),
    deviation('groups', 'first-for-all', '§2.2.1: the first group with a "*" value'),
    deviation('indexPages', 'plain', 'the standard has no such rule'),
    deviation('copyAfterUnavailableHours', 24, '§2.3.1.3: a cached version may be used for up to 24 hours'),
  ],
  'koster-1996': [
    deviation('keys', 'exact', '§3.3: the grammar has the whole name and a colon'),
    deviation('groupEnd', 'blank-line', '§3.2: records are separated by blank lines'),
    deviation('agents', 'name', '§3.2.1: the name, without version information'),
    deviation('groups', 'first', '§3.2.1: one record for each name, and one for "*"'),
    deviation('winner', 'first', '§3.2.2: rules are tried in file order, and the first match is used'),
    deviation('wildcards', 'literal', '§3.2.2: every byte is compared literally'),
    deviation('compare', 'decoded', '§3.2.2: %xx is decoded unless it is "/"'),
    deviation('emptyRules', 'allows-all', 'an empty path is a prefix of every path, and it disallows nothing'),
    deviation('indexPages', 'plain', 'the standard has no such rule'),
    deviation('robotsTxtItself', 'by-rules', 'the standard does not mention it'),
    deviation('forbidden', 'restricted', '§3.1: 401 and 403 mean completely restricted'),
    deviation('ttlHours', 7 * 24, '§3.4: 7 days, if no cache-control is present'),
    deviation('whenUnreachable', 'disallow', '§3.1: visits are deferred until the file can be retrieved'),
    deviation('afterDays', Number.POSITIVE_INFINITY, '§3.1: visits are deferred without a limit'),
  ],
  'original-1994': [
    deviation('keys', 'exact', 'a field is its name, a colon and its value'),
    deviation('groupEnd', 'blank-line', 'records are separated by blank lines'),
    deviation('agents', 'substring', 'a substring of the name, without version information'),
    deviation('groups', 'first', 'one record for each name, and one for "*"'),
    deviation('winner', 'first', 'the first matching pattern wins'),
    deviation('allow', 'unknown', 'the standard has no Allow'),
    deviation('wildcards', 'literal', 'a path is the beginning of a URL, without wildcards'),
    deviation('compare', 'plain', 'the standard does not mention encoding'),
    deviation('emptyRules', 'allows-all', 'an empty value means that all URLs may be fetched'),
    deviation('robotsTxtItself', 'by-rules', 'the standard does not mention it'),
    deviation('forbidden', 'restricted', 'as koster-1996, which documents earlier practice'),
    deviation('ttlHours', 7 * 24, 'as koster-1996'),
    deviation('whenUnreachable', 'disallow', 'as koster-1996'),
    deviation('afterDays', Number.POSITIVE_INFINITY, 'as koster-1996'),
  ],
}

/** The built-in dialects. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  rfc9309,
  google: dialectOf('google'),
  'draft-koster-rep-00': dialectOf('draft-koster-rep-00'),
  'koster-1996': dialectOf('koster-1996'),
  'original-1994': dialectOf('original-1994'),
}

/** Returns `rfc9309` with the deviations of a dialect applied. */
function dialectOf(name: DialectName): Dialect {
  const answers = Object.fromEntries(deviations[name].map(({ question, answer }) => [question, answer]))
  const take = <T extends object>(base: T): T =>
    Object.fromEntries(Object.entries(base).map(([question, answer]) => [question, answers[question] ?? answer])) as T
  return { name, parsing: take(rfc9309.parsing), access: take(rfc9309.access) }
}
