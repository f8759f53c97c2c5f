// What lint says, as a table: each code with how bad it is and what to write instead. docs/lint.md is made from it.

/**
 * `error`: crawlers do not read what was surely meant. `warning`: some do not, or it is likely to be meant otherwise.
 * `note`: nothing is wrong; information for the author of the file.
 */
export type Severity = 'error' | 'warning' | 'note'

/** Every message by its code. `{}` is what to write instead. Kebab-case, and never renamed. */
const messages = {
  error: {
    // The whole file
    'html-instead-of-robots': 'This is an HTML page; serve plain text, or answer 404 if the site has no rules.',
    'xml-instead-of-robots': 'This is XML; serve plain text with one field on each line.',
    'json-instead-of-robots': 'This is JSON; serve plain text with one field on each line.',
    'utf-16': 'The file is UTF-16, of which crawlers read nothing; save it as UTF-8.',
    'over-500-kib': 'Crawlers may stop reading at 500 KiB, which is on this line; write fewer and shorter rules.',
    // Bytes and lines
    'misplaced-bom': 'A byte order mark inside the file hides what follows it; write the line without it.',
    'over-long-line': 'Google reads the first 16,663 bytes of a line; write a shorter one.',
    'nul-octet': 'A NUL byte ends what is read of this line; remove it.',
    'other-line-end': 'Only LF, CR and CR LF end a line, so two lines are read as one; put one of these between them.',
    'non-ascii-blank': 'A blank that is not of ASCII counts as part of the key or value; write a plain space or none.',
    'three-words-without-colon': 'Without a colon this line is not read; write {}.',
    'late-colon': 'The colon behind the key is missing, so a later one is taken for it; write {}.',
    'several-fields-on-one-line': 'The value holds another field, which is not read; write it on a line of its own.',
    'url-without-key': 'A URL alone on a line is not read; write {}.',
    'unreadable-key': 'No crawler knows this key, which looks like a misspelling; write {}.',
    // Names
    'user-agent-without-name':
      'A user-agent line without a name names nobody; write a product token, or * for everyone.',
    'unreadable-name': 'A product token begins with a letter, so this line names nobody; write the token alone.',
    'wildcard-in-name': 'A * in a name stands for nothing, so this line names nobody; write whole product tokens.',
    'several-names-on-one-line': 'Only the first name of a line is read; write a user-agent line for each.',
    'user-agent-header-as-name':
      'Of a whole User-Agent header only the first word is read; write the product token alone.',
    // Rules
    'rule-before-group': 'A rule above the first user-agent line is nobody’s; write "User-agent: *" above it.',
    'path-without-slash': 'A path begins with a slash, so this rule matches nothing; write {}.',
    'absolute-url-in-rule': 'A rule with a whole URL matches nothing; write its path, {}.',
    'two-paths-on-one-line': 'A rule holds one path, and the blank is read as part of it; write a line for each.',
    // Other records
    'sitemap-not-absolute': 'A sitemap is named by its whole URL; write one such as {}.',
    'license-not-absolute': 'A license is named by its whole URL; write one such as {}.',
  },
  warning: {
    'partial-bom': 'The file begins with a part of a byte order mark; save it as UTF-8 without one.',
    'control-character': 'A control character is read as part of the key or value; remove it.',
    'not-utf-8': 'The line is not UTF-8, so crawlers may read it in different ways; save the file as UTF-8.',
    'missing-colon': 'Not every crawler reads a line without a colon; write {}.',
    'not-a-field': 'This line is neither a field nor a comment; write # before it if it is for people.',
    'misspelt-key': 'Google knows this misspelling, and others may not; write {}.',
    'key-known-by-its-beginning': 'This key is read as {} because it begins so; write just that, or another word.',
    'product-token-with-other-characters': 'What follows the product token is not read; write {}.',
    'names-merged-across-blank-line':
      'A blank line ends no group, so the names above it get these rules too; write "Disallow:" above it if not.',
    'names-merged-across-record':
      'Only a rule ends a list of names, so those above get these rules too; write "Disallow:" above it if not.',
    'group-without-rules':
      'A group without rules allows everything; write "Disallow:" below its names if that is meant.',
    'record-before-group':
      'Above the first user-agent line this speaks to nobody; write it below those it is meant for.',
    'empty-allow': 'An Allow without a path does nothing; write "Disallow:" to allow everything.',
    'conflicting-rules': 'The same path is allowed and disallowed, and the Allow wins; write only one of them.',
    'shadowed-rule': 'A longer rule for the same paths always decides instead; write only one of them.',
    'fragment-in-rule': 'A # begins a comment, and no client sends a fragment; write %23 if it is a part of the path.',
    'dollar-inside':
      'A $ that is not the last character is one like any other; write it last if the end of the path is meant.',
    'raw-space-in-path': 'The blank is part of the path; write {}, or # before a comment.',
    'backslash-in-path': 'Clients send / for a backslash, so this rule matches none of their requests; write {}.',
    'malformed-percent': 'A % that begins no %XX is matched as it stands; write {} if the character is meant.',
    'dot-segments':
      'Clients resolve dot segments before they ask, so this rule matches none of their requests; write {}.',
    'crawl-delay-unreadable':
      'A crawl-delay is a number of seconds without a unit; write one such as "Crawl-delay: 10".',
    'crawl-delay-very-long': 'With a pause of over a minute few pages can be crawled in a day; write 60 or less.',
    'several-crawl-delays': 'Crawlers differ on which of several crawl-delays they keep; write one.',
    'request-rate-unreadable': 'A request-rate is requests per period; write one such as "Request-rate: 1/10s".',
    'too-many-request-rates':
      'A crawler may keep only the first 24 request-rates for it; write at most one for each hour of the day.',
    'visit-time-unreadable': 'A visit-time is a part of the UTC day; write one such as "Visit-time: 0600-0845".',
    'too-many-visit-times':
      'A crawler may keep only the first 24 visit-times for it; write at most one for each hour of the day.',
    'noindex-not-supported': 'Google stopped reading noindex here in 2019; write it in the page or its X-Robots-Tag.',
  },
  note: {
    'empty-file':
      'Nothing in this file is read, so everything is allowed; write "User-agent: *" and "Disallow:" to say so.',
    bom: 'Some crawlers take the byte order mark for part of the first key; save the file as UTF-8 without one.',
    'unknown-field': 'This field is known to few crawlers or none; write # before it if it is for people.',
    'product-token-with-version': 'A version is no part of the product token; write {}.',
    'product-token-with-digits':
      'Google reads a name only up to its first digit; write it only for a crawler that calls itself so.',
    'duplicate-group': 'A group above names this crawler too, and not all crawlers merge them; write one group.',
    'duplicate-name': 'The group names this crawler twice; write it once.',
    'duplicate-rule': 'The group has this rule twice; write it once.',
    'redundant-rule': 'A shorter rule of the group covers this one; write only the shorter one.',
    'empty-disallow-beside-rules': 'A Disallow without a path lifts no other rule; write it alone or not at all.',
    'allow-without-disallow':
      'Where nothing is disallowed an Allow changes nothing; write "Disallow:" to say the same to every crawler.',
    'blocks-everything': 'This keeps out all crawlers without a group of their own; write "Disallow:" to let them in.',
    'path-begins-with-star': 'RFC 9309 has paths begin with a slash; write {}.',
    'trailing-star': 'A path matches whatever follows it, so the * only makes it stronger; write {}.',
    'double-star': 'Two * match what one does, and only make the rule stronger; write {}.',
    'raw-non-ascii': 'Characters outside ASCII are compared as their %XX; write {} to be read by everyone.',
    'raw-character-in-path': 'This character stands raw in no URL; write {} to be read by everyone.',
    'encoded-unreserved': 'This %XX needs no encoding, and Google compares it as it stands; write {}.',
    'robots-txt-disallowed': 'Crawlers may always fetch robots.txt; write no rule for it.',
    'index-page-also-allows-folder': 'Google takes this for the folder too; write {} as well if that is not meant.',
    'host-deprecated': 'Yandex stopped reading Host in 2018; write a redirect to the main host.',
  },
} as const

/** A stable name for each thing that lint finds. */
export type FindingCode =
  | keyof (typeof messages)['error']
  | keyof (typeof messages)['warning']
  | keyof (typeof messages)['note']

export interface FindingKind {
  readonly severity: Severity
  /** The message; `{}` stands for what to write instead. */
  readonly message: string
}

/** Every code, with what it means. */
export const findingKinds: Readonly<Record<FindingCode, FindingKind>> = {
  ...kindsOf('error', messages.error),
  ...kindsOf('warning', messages.warning),
  ...kindsOf('note', messages.note),
}

function kindsOf<C extends string>(severity: Severity, table: Readonly<Record<C, string>>): Record<C, FindingKind> {
  const kinds = Object.entries<string>(table).map(([code, message]) => [code, { severity, message }])
  return Object.fromEntries(kinds) as Record<C, FindingKind>
}
