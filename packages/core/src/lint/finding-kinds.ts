// The kinds of findings: each code with its severity and message. docs/reference/lint-findings.md
// is made from this table.

/**
 * How serious a finding is:
 *
 * - `error`: crawlers ignore the line, or read it in another way than the author surely meant.
 * - `warning`: some crawlers do, or the line probably means something else than the author
 *   intended.
 * - `note`: correct, but the author may want to know. A good file may have notes.
 */
export type Severity = 'error' | 'warning' | 'note'

/**
 * The messages by severity and code. `{}` stands for what to write instead, `{found}` for what is in
 * the line. Codes are in kebab-case and never renamed.
 */
export const findingMessages = {
  error: {
    // The whole file
    'html-instead-of-robots': 'This is an HTML page; serve plain text, or answer 404 if the site has no rules.',
    'xml-instead-of-robots': 'This is XML; serve plain text with one field on each line.',
    'json-instead-of-robots': 'This is JSON; serve plain text with one field on each line.',
    'binary-instead-of-robots': 'This is not text; serve plain text, and name a compression in Content-Encoding.',
    'utf-16': 'The file is UTF-16, which crawlers cannot read; save it as UTF-8.',
    'over-500-kib': 'Crawlers may stop reading at 500 KiB, which is on this line; write fewer and shorter rules.',
    // Bytes and lines
    'misplaced-bom': 'A byte order mark inside the file makes this line unreadable; write the line without it.',
    'over-long-line': 'Google reads only the first 16,663 bytes of a line; write a shorter one.',
    'nul-octet': 'Crawlers do not read what follows the NUL byte on this line; remove it.',
    'other-line-end': 'Only LF, CR and CR LF end a line, so two lines are read as one; put one of these between them.',
    'escaped-line-end':
      'The text \\n ends no line, so crawlers read one line here; write {} with a line end after each.',
    'html-in-line': 'Crawlers read the HTML {found} as part of the line; write {}.',
    'unfilled-template':
      'Crawlers read {found} as it is, because no program filled in the template; write the text that it stands for.',
    'look-alike-character': 'Crawlers do not read a character as one that it looks like, here {found}; write {}.',
    'non-ascii-blank': 'Crawlers read the hidden character {found} as part of the key or value; write {}.',
    'key-without-value': 'Crawlers ignore a key alone; write a colon and a value after it.',
    'three-words-without-colon': 'Crawlers ignore this line, because its colon is missing; write {}.',
    'late-colon': 'The colon after the key is missing, so the key is read up to a later colon; write {}.',
    'several-fields-on-one-line':
      'The value contains another field, which crawlers do not read; write it on a line of its own.',
    'url-without-key': 'Crawlers ignore a URL without a key; write {}.',
    'unreadable-key': 'No crawler knows this key, which looks like a misspelling; write {}.',
    // Names
    'user-agent-without-name': 'This user-agent line names no crawler; write a product token, or * for all crawlers.',
    'unreadable-name': 'A product token begins with a letter, so this line names no crawler; write the token alone.',
    'wildcard-in-name':
      'A * inside a name is not a wildcard, so this line names no crawler; write whole product tokens.',
    'several-names-on-one-line':
      'A user-agent line has one name, so crawlers do not read all of these; write a line for each.',
    'user-agent-header-as-name':
      'Crawlers do not look for their name inside a whole User-Agent header; write the product token alone.',
    // Rules
    'rule-before-group':
      'Crawlers ignore a rule that belongs to no user-agent line; write the line above it, such as "User-agent: *" for all.',
    'path-without-slash': 'A path begins with a slash, so this rule matches nothing; write one that does, as in {}.',
    'absolute-url-in-rule':
      'A rule with a URL or a host matches nothing; write its path alone, in the robots.txt of that host, as in {}.',
    'two-paths-on-one-line': 'A rule has one path, so several are read as one; write a rule for each, as in {}.',
    // Other records
    'sitemap-not-absolute': 'Sitemap needs an absolute URL; write one such as {}.',
    'sitemap-on-private-host': 'Crawlers cannot reach {found}; write a public URL such as {}.',
    'several-sitemaps-on-one-line':
      'A Sitemap line has one URL, so crawlers read several as one; write a line for each.',
    'license-not-absolute': 'License needs an absolute URL; write one such as {}.',
    // Preferences on the use of content
    'unreadable-content-usage':
      'Crawlers read no preference in this line, because of {found}; write it as label=y or label=n, as in {}.',
    'unreadable-preference': 'Crawlers do not read {found}; write a preference that this field defines, as in {}.',
    'preference-of-other-field':
      'Content-Usage and Content-Signal differ in labels and values, so crawlers do not read {found}; write the ones of this field, as in {}.',
  },
  warning: {
    'partial-bom': 'The file begins with an incomplete byte order mark; save it as UTF-8 without one.',
    'control-character': 'Crawlers differ in whether a control character is part of the key or value; remove it.',
    'not-utf-8': 'The line is not UTF-8, so crawlers may read it in different ways; save the file as UTF-8.',
    'missing-colon': 'Not every crawler reads a line without a colon; write {}.',
    'not-a-field': 'This line is neither a field nor a comment; write # before it if it is a comment.',
    'misspelt-key': 'Google accepts this misspelling, but other crawlers may not; write {}.',
    'key-known-by-its-beginning':
      'Crawlers may read this key as {}, because it begins with it; write only that, or another word.',
    'product-token-with-other-characters':
      'Crawlers differ in whether they read what follows the product token; write {}.',
    'names-merged-across-blank-line':
      'A blank line does not end a group, so these rules also apply to the names above; write "Disallow:" above the blank line if they should not.',
    'names-merged-across-record':
      'Only a rule ends a list of names, so these rules also apply to the names above; write "Disallow:" above this line if they should not.',
    'group-without-rules':
      'A group without rules allows everything; write "Disallow:" below its names to say so explicitly.',
    'record-before-group':
      'A record above the first user-agent line applies to no crawler; write it below the names that it is meant for.',
    'empty-allow': 'An Allow without a path matches no path; write "Disallow:" if the group is to allow everything.',
    'conflicting-rules': 'The same path is allowed and disallowed, and the Allow wins; write only one of them.',
    'shadowed-rule': 'A longer rule for the same paths always decides instead; write only one of them.',
    'fragment-in-rule': 'A # begins a comment, and clients do not send fragments; write %23 if it is part of the path.',
    'dollar-inside': 'A $ matches the end of the path only as the last character; write it last if you mean the end.',
    'raw-space-in-path':
      'The space is read as part of the path; write # before a comment, or %20 for a space, as in {}.',
    'backslash-in-path':
      'Clients send / for a backslash in a path, so this rule matches no URL that has one there; write {}.',
    'url-as-path': 'This matches only paths that contain a whole URL; write its path alone if you mean that, as in {}.',
    'regular-expression-in-path':
      'Only * and a final $ are special in a path, so crawlers read no regular expression in {found}; write * for any characters, as in {}.',
    'literal-wildcard':
      'Crawlers of this dialect know no wildcards, so this rule matches only paths that contain {found}; write paths that begin alike.',
    'malformed-percent':
      'A % without two hex digits after it is compared unchanged; write {} if you mean the character.',
    'dot-segments':
      'Clients resolve dot segments before they send a request, so this rule matches none; write the path that they send, as in {}.',
    'crawl-delay-unreadable':
      'A crawl-delay is a number of seconds, 0 or more, without a unit; write one such as "Crawl-delay: 10".',
    'crawl-delay-very-long': 'A delay of over a minute allows fewer than 1,440 pages a day; write 60 or less.',
    'several-crawl-delays': 'Crawlers differ in which of several crawl-delays they obey; write one.',
    'request-rate-unreadable':
      'A request-rate is a number of requests per period; write one such as "Request-rate: 1/10s".',
    'too-many-request-rates': 'A crawler may obey only its first 24 request-rates; write at most 24.',
    'visit-time-unreadable': 'A visit-time is a part of the UTC day; write one such as "Visit-time: 0600-0845".',
    'too-many-visit-times': 'A crawler may obey only its first 24 visit-times; write at most 24.',
    'content-signal-spelling':
      'Not every crawler reads a Content-Signal with {found}; write lower case, and commas between labels, as in {}.',
    'expired-label':
      'Crawlers may ignore a label of an older AIPREF draft, here {found}; write one of the newest draft, as in {}.',
    'several-preferences': 'The label {found} has different values here, of which crawlers may read any; write one.',
    'shadowed-preference':
      'The longer path in {found} matches the same URLs, so crawlers never read this line; write only one of them.',
    'content-usage-between-names':
      'Crawlers differ in whether a Content-Usage line ends a list of names, and so in whether these rules apply to the names above; write "Disallow:" above this line if they should not, or all names first if they should.',
    'noindex-not-supported':
      'Google has ignored noindex in robots.txt since 2019; write it in the page or its X-Robots-Tag header.',
  },
  note: {
    'empty-file': 'The file has no field, so everything is allowed; write "User-agent: *" and "Disallow:" to say so.',
    bom: 'Some crawlers read the byte order mark as part of the first key; save the file as UTF-8 without one.',
    'unknown-field': 'Few crawlers or none know this field; write # before it if it is a comment.',
    'ignored-field': 'This field is known, but {found}; write it only for crawlers that read it.',
    'product-token-with-version': 'A version is not part of the product token; write {}.',
    'product-token-without-vendor': 'No known crawler has this name alone; write {} if you mean that crawler.',
    'product-token-with-digits':
      'Google reads a name only up to its first digit; write digits only if the product token has them.',
    'named-group-lacks-rules':
      'A named group replaces the group for *, so these crawlers may fetch what {found} disallows; write {} here too if they should not.',
    'named-group-lacks-preferences':
      'A named group replaces the group for *, so the preference in {found} does not apply to these crawlers; write {} here too if it should.',
    'duplicate-group': 'An earlier group names this crawler too, and not all crawlers merge them; write one group.',
    'duplicate-name': 'The group names this crawler twice; write it once.',
    'duplicate-rule': 'The group has this rule twice; write it once.',
    'redundant-rule': 'A shorter rule of the group covers this one; write only the shorter one.',
    'empty-disallow-beside-rules':
      'A Disallow without a path does not cancel other rules; write it alone or not at all.',
    'allow-without-disallow': 'An Allow has no effect in a group without Disallow; write "Disallow:" instead.',
    'blocks-everything':
      'This disallows everything to all crawlers without a group of their own; write "Disallow:" to allow everything.',
    'closes-page-resources':
      'Search engines render pages, and this rule keeps them from {found}; remove it, or write an Allow for what your pages use, as in {}.',
    'bing-obeys-shared-delay':
      'Bing says that bingbot obeys the Crawl-delay of *, here in {found}, even though this group replaces all other lines of *; write a Crawl-delay here if bingbot should obey another one.',
    'path-begins-with-star': 'RFC 9309 requires a path to begin with a slash; write {}.',
    'trailing-star':
      'A path matches whatever follows it, so the * only makes the rule longer and thereby stronger; write {}.',
    'double-star': 'Two * match the same as one, and only make the rule longer and thereby stronger; write {}.',
    // Google recommends it since 2026-10-23: developers.google.com/crawling/docs/robots-txt/robots-txt-spec
    'raw-non-ascii':
      'Crawlers compare characters outside ASCII as %XX, and Google recommends that form; write {} so that every crawler reads it.',
    'raw-character-in-path': 'Clients percent-encode this character; write {} so that every crawler reads it.',
    'encoded-unreserved': 'This %XX needs no encoding, and Google does not decode it; write {}.',
    'literal-text-in-path':
      'This rule matches only URLs that contain {found}, as broken links do; write another path if you mean other URLs, as in {}.',
    'robots-txt-disallowed': 'Crawlers may always fetch robots.txt; write no rule for it.',
    'index-page-also-allows-folder':
      'Google reads this as a rule for the folder too; write {} if you do not mean the folder.',
    'unknown-label': 'Crawlers ignore a label that its field does not define, here {found}; write a defined one.',
    'preference-for-disallowed-path':
      'The group disallows all URLs of this preference, so it applies to none; write it for URLs that crawlers may fetch.',
    'license-in-group':
      'By the RSL specification this License is only for the group above, and by its guide for all crawlers; write it above the first user-agent line if it is for all.',
    'duplicate-sitemap': 'An earlier line names this sitemap too; write it once.',
    'host-deprecated': 'Yandex has ignored Host since 2018; write a redirect to the main host.',
  },
} as const

type Messages = (typeof findingMessages)['error' | 'warning' | 'note']
type MessageOf<C> = Messages extends infer M ? (M extends Record<C & string, infer Text> ? Text : never) : never

/**
 * The code of a kind of finding. Codes are stable.
 * @useDeclaredType
 */
export type FindingCode =
  | keyof (typeof findingMessages)['error']
  | keyof (typeof findingMessages)['warning']
  | keyof (typeof findingMessages)['note']

/** The codes of findings that say what to write instead: `{}` in their messages. */
export type CodeWithText = {
  [C in FindingCode]: MessageOf<C> extends `${string}{}${string}` ? C : never
}[FindingCode]

/**
 * What all findings with the same code share.
 * @inline
 */
export interface FindingKind {
  readonly severity: Severity
  /** One sentence; `{}` stands for what to write instead, `{found}` for what is in the line. */
  readonly message: string
}

/** The severity and message of every code. */
export const findingKinds: Readonly<Record<FindingCode, FindingKind>> = {
  ...kindsOf('error', findingMessages.error),
  ...kindsOf('warning', findingMessages.warning),
  ...kindsOf('note', findingMessages.note),
}

function kindsOf<C extends string>(severity: Severity, table: Readonly<Record<C, string>>): Record<C, FindingKind> {
  const kinds = Object.entries<string>(table).map(([code, message]) => [code, { severity, message }])
  return Object.fromEntries(kinds) as Record<C, FindingKind>
}
