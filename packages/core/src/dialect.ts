// The ways in which the web has read robots.txt, as data. A dialect covers parsing and access: a crawler that follows a standard on what a
// rule means follows it on what a missing file means.
//
// A dialect is a list of words, one for each question on which the standards differ. Each standard is written as its differences from
// RFC 9309, each with the place where the standard says so. The table in docs/dialects.md is made from this one.

/** How a robots.txt is read. */
export interface ParsingRules {
  /**
   * Which fields are known. `lenient`: by how the key begins, with the frequent misspellings, and also where the colon was
   * forgotten between two words. `exact`: by the whole key, in any case, and a colon.
   */
  readonly keys: 'lenient' | 'exact'
  /** What ends a group: the next `user-agent` line after a rule, or a `blank-line`. */
  readonly groupEnd: 'user-agent' | 'blank-line'
  /**
   * When a user-agent line names a crawler. All compare without case.
   * `token`: its leading `a-zA-Z_-` are the crawler's token. `token-or-digits`: the same, and a crawler whose token has digits
   * is compared with digits. `whole-value`: the value is the token. `name`: the value without a version is the name.
   * `substring`: the value without a version occurs in the crawler's name.
   */
  readonly agents: 'token' | 'token-or-digits' | 'whole-value' | 'name' | 'substring'
  /** Of a crawler's several product tokens, whether the `first` that has a group is followed, or `all` of them as one. */
  readonly severalTokens: 'first' | 'all'
  /**
   * Which of the groups that name a crawler (or else everyone) hold: `merged` into one; `first-for-all`, where its own are
   * merged and of those for everyone only the first holds; or the `first` of either.
   */
  readonly groups: 'merged' | 'first-for-all' | 'first'
  /** Which rule decides of those that match: the one with `most-octets`, allow before disallow; or the `first` in the group. */
  readonly winner: 'most-octets' | 'first'
  /** Whether `Allow` is a `rule` or an `unknown` field. */
  readonly allow: 'rule' | 'unknown'
  /** Whether `*` and a final `$` in a path are `special` or `literal`. */
  readonly wildcards: 'special' | 'literal'
  /**
   * The form in which a rule meets a URL.
   * `rfc9309`: as a client sends it, both sides encoded and decoded as RFC 9309 §2.2.2 says. `decoded`: as a client sends it,
   * every `%XX` decoded but `%2F`. `plain`: as a client sends it, bytes outside ASCII encoded and hex in upper case.
   * `google`: such a rule, and the unchanged path of whatever string the caller passes.
   */
  readonly compare: 'rfc9309' | 'decoded' | 'plain' | 'google'
  /**
   * What a `Disallow` (or `Allow`) without a path does: `nothing`; `reported`, the same, but it is named when nothing else
   * matched; or `allows-all`, where it matches everything and its turn has come.
   */
  readonly emptyRules: 'nothing' | 'reported' | 'allows-all'
  /** Whether `Allow: /dir/index.html` also allows the `folder` `/dir/`, or is `plain`. */
  readonly indexPages: 'folder' | 'plain'
  /** Whether `/robots.txt` is `allowed` whatever the rules say, or judged `by-rules`. */
  readonly robotsTxtItself: 'allowed' | 'by-rules'
}

/** What answers other than a file mean, and for how long a file holds, where the caller chooses nothing else. */
export interface AccessDefaults {
  /** 401 and 403: `unavailable`, so everything is allowed, or `restricted`: everything is disallowed. */
  readonly forbidden: 'unavailable' | 'restricted'
  /** How old a copy may be to be obeyed although the server has said since that the file is unavailable. Hours. */
  readonly copyAfterUnavailableHours: 0 | 24
  /** How long an answer holds that says nothing about it. Hours. */
  readonly ttlHours: number
  /** While robots.txt is unreachable: obey a copy (`use-copy`), or stay away (`disallow`). */
  readonly whenUnreachable: 'use-copy' | 'disallow'
  /** After how many days unreachable robots.txt counts as unavailable, or a copy holds although a later answer contradicted it; Infinity: never. */
  readonly afterDays: number
}

/** A named way to read robots.txt. Make your own from one of `dialects`: `{ ...dialects.rfc9309, name: 'mine', reading: … }`. */
export interface Dialect {
  readonly name: string
  readonly parsing: ParsingRules
  readonly access: AccessDefaults
}

/** The dialects by name. */
export type DialectName = 'rfc9309' | 'google' | 'draft-koster-rep-00' | 'koster-1996' | 'original-1994'

/** The default: RFC 9309, with Google's leniency in reading the file, and product tokens as real files have them. */
const rfc9309: Dialect = {
  name: 'rfc9309',
  parsing: {
    keys: 'lenient',
    groupEnd: 'user-agent',
    agents: 'token-or-digits',
    severalTokens: 'first',
    groups: 'merged',
    winner: 'most-octets',
    allow: 'rule',
    wildcards: 'special',
    compare: 'rfc9309',
    emptyRules: 'nothing',
    indexPages: 'folder',
    robotsTxtItself: 'allowed',
  },
  access: {
    forbidden: 'unavailable',
    copyAfterUnavailableHours: 0,
    ttlHours: 24,
    whenUnreachable: 'use-copy',
    afterDays: 30,
  },
}

/** One answer in which a standard differs from RFC 9309. */
export type Deviation = {
  [Q in keyof (ParsingRules & AccessDefaults)]: {
    readonly question: Q
    readonly answer: (ParsingRules & AccessDefaults)[Q]
    /** Where it says so, or why it is taken so. */
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

/** What each dialect answers differently from `rfc9309`. */
export const deviations: Readonly<Record<DialectName, readonly Deviation[]>> = {
  rfc9309: [],
  google: [
    deviation('agents', 'token', 'google/robotstxt cuts a token at the first digit'),
    deviation('severalTokens', 'all', 'google/robotstxt merges the groups of all the names that it is given'),
    deviation('compare', 'google', 'google/robotstxt normalises the rule and leaves the URL to its caller'),
    deviation('emptyRules', 'reported', 'google/robotstxt names the line of an empty rule'),
    deviation('robotsTxtItself', 'by-rules', 'google/robotstxt leaves it to its caller'),
  ],
  'draft-koster-rep-00': [
    deviation('agents', 'whole-value', '§2.2.1: the group that matches the product token exactly'),
    deviation('groups', 'first-for-all', '§2.2.1: the first group with a "*" value'),
    deviation('indexPages', 'plain', 'it has no such rule'),
    deviation('copyAfterUnavailableHours', 24, '§2.3.1.3: a cached version may be used for up to 24 hours'),
  ],
  'koster-1996': [
    deviation('keys', 'exact', '§3.3: the grammar'),
    deviation('groupEnd', 'blank-line', '§3.2: records are separated by blank lines'),
    deviation('agents', 'name', '§3.2.1: the name, without version information'),
    deviation('groups', 'first', '§3.2.1: one record for a name, one for "*"'),
    deviation('winner', 'first', '§3.2.2: in the order they occur; the first match is used'),
    deviation('wildcards', 'literal', '§3.2.2: every byte is compared'),
    deviation('compare', 'decoded', '§3.2.2: %xx is decoded unless it is "/"'),
    deviation('emptyRules', 'allows-all', 'an empty path is a prefix of every path, and disallows none'),
    deviation('indexPages', 'plain', 'it has no such rule'),
    deviation('robotsTxtItself', 'by-rules', 'it does not say'),
    deviation('forbidden', 'restricted', '§3.1: 401 and 403 mean completely restricted'),
    deviation('ttlHours', 7 * 24, '§3.4: 7 days, if no cache-control is present'),
    deviation('whenUnreachable', 'disallow', '§3.1: visits are deferred until the file can be retrieved'),
    deviation('afterDays', Number.POSITIVE_INFINITY, '§3.1: until then, however long'),
  ],
  'original-1994': [
    deviation('keys', 'exact', 'fields are named, with a colon'),
    deviation('groupEnd', 'blank-line', 'records are separated by blank lines'),
    deviation('agents', 'substring', 'a substring of the name, without version'),
    deviation('groups', 'first', 'one record for a name, one for "*"'),
    deviation('winner', 'first', 'the first matching pattern wins'),
    deviation('allow', 'unknown', 'there is no Allow'),
    deviation('wildcards', 'literal', 'a partial URL, without wildcards'),
    deviation('compare', 'plain', 'it does not speak of encoding'),
    deviation('emptyRules', 'allows-all', 'an empty value: all may be fetched'),
    deviation('robotsTxtItself', 'by-rules', 'it does not say'),
    deviation('forbidden', 'restricted', 'as koster-1996, which wrote down the habit'),
    deviation('ttlHours', 7 * 24, 'as koster-1996'),
    deviation('whenUnreachable', 'disallow', 'as koster-1996'),
    deviation('afterDays', Number.POSITIVE_INFINITY, 'as koster-1996'),
  ],
}

/** The dialects, ready to use. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  rfc9309,
  google: dialectOf('google'),
  'draft-koster-rep-00': dialectOf('draft-koster-rep-00'),
  'koster-1996': dialectOf('koster-1996'),
  'original-1994': dialectOf('original-1994'),
}

function dialectOf(name: DialectName): Dialect {
  const answers = Object.fromEntries(deviations[name].map(({ question, answer }) => [question, answer]))
  const take = <T extends object>(base: T): T =>
    Object.fromEntries(Object.entries(base).map(([question, answer]) => [question, answers[question] ?? answer])) as T
  return { name, parsing: take(rfc9309.parsing), access: take(rfc9309.access) }
}
