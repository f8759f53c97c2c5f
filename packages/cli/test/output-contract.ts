// The JSON formats of the command: every field with its type and meaning. output-formats.test.ts
// writes docs/reference/schemas from it.

import { PURPOSES } from '../src/flags.ts'

/**
 * A path such as `files[].line`, types, and the meaning. A `?` ends the name of a field that may be
 * absent. A type in quotes is one of several values.
 */
type Field = readonly [path: string, type: string, meaning: string]

export interface JsonFormat {
  /** The command, and a flag with which it prints something else: `match --by-agent`. */
  readonly command: string
  readonly format: 'json' | 'ndjson'
  /** What a document or a line is. */
  readonly about: string
  readonly fields: readonly Field[]
}

const VERSION: Field = ['version', '1', 'The version of the format.']

const REASON: readonly Field[] = [
  ['allowed', 'boolean', 'Whether the crawler may fetch the URL.'],
  ['because', 'string', 'The reason. docs/verdicts.md lists the reasons.'],
  ['rule?', 'object', 'The rule that decides, if one does.'],
  ['rule.directive', '"allow" or "disallow"', 'What the rule does.'],
  ['rule.text', 'string', 'The pattern as the file has it.'],
  ['rule.line', 'integer', 'The line of the rule, counted from 1.'],
  ['rule.bytes', 'integer', 'The length of the pattern in normal form.'],
  ['group?', 'object', 'The first group that applies to the crawler.'],
  ['group.agents', 'string[]', 'The names of the group.'],
  ['group.line', 'integer', 'The first line of the group.'],
  ['productTokens?', 'string[]', 'The names that the crawler looks for in robots.txt.'],
  ['problem?', 'string', 'What is wrong with an invalid URL.'],
]

const ACCESS: readonly Field[] = [
  ['origin?', 'string', 'Scheme, host and port of the URL. Absent for an invalid URL.'],
  ['access?', 'object', 'How robots.txt was obtained.'],
  ['access.outcome', '"success" or "unavailable" or "restricted" or "unreachable"', 'The outcome of the last attempt.'],
  ['access.reason', 'string', 'The reason of the outcome, such as `status`, `timeout` or `refused`.'],
  ['access.status?', 'integer', 'The status of the last response.'],
  ['access.detail?', 'string', "The platform's message about a failure, for people."],
  ['access.url', 'string', 'The last URL that was requested.'],
  ['access.hops', 'object[]', 'The redirects that led to that URL, each with `url` and `status`.'],
  ['access.looksLike?', 'string', 'What the response looks like, if it is not a robots.txt.'],
  ['access.checkedAt', 'integer', 'When the attempt ended, in milliseconds since 1970.'],
  ['access.retryAfterMs?', 'number', 'How long the response asked to wait (Retry-After), in milliseconds.'],
  [
    'access.failedRefresh?',
    'object',
    'The last attempt, if it failed while the copy was still fresh: `reason`, `status`, `detail`, `url`, `checkedAt` and `retryAfterMs` as in `access`.',
  ],
  ['access.nextAttemptAt', 'integer', 'When the next attempt is due, in milliseconds since 1970.'],
  ['access.copy?', 'object', 'The copy whose rules decided.'],
  ['access.copy.freshness', '"fresh" or "stale"', '`stale` if the last attempt failed.'],
  ['access.copy.ageMs', 'number', 'The age of the copy in milliseconds.'],
  ['access.copy.bytes', 'integer', 'The size of the copy in bytes.'],
  ['access.copy.truncated', 'boolean', 'Whether the copy was cut at the size limit.'],
  [
    'retryAt?',
    'integer',
    'When the next attempt is due, in milliseconds since 1970, if robots.txt is unreachable and so disallows the URL.',
  ],
  ['crawlDelayMs?', 'number', 'The Crawl-delay for the crawler, in milliseconds.'],
  ['requestRates?', 'object[]', 'Each Request-rate for the crawler, with `requests`, `periodMs` and `between`.'],
  [
    'visitTimes?',
    'object[]',
    'The hours in which the site wants visits, with `from` and `to` in minutes of the UTC day.',
  ],
]

const CHECKED: readonly Field[] = [
  ['headers?', 'object', 'Headers of the response: those about caching, Content-Type and Retry-After.'],
  ['edge?', 'object', 'With `--edge`: the comparison with a request that asks caches to revalidate.'],
]

const PAGE_OUTCOME: readonly Field[] = [
  [
    'page?',
    'object',
    'What became of the request. [Outcomes](../outcomes.md) explains it. Absent if it says nothing about the site.',
  ],
  ['page.kind', 'string', 'Such as `served`, `denied` or `connection`.'],
  ['page.because', 'string', 'What shows it, such as `status`, `challenge-header` or `refused`.'],
  ['page.status?', 'integer', 'The status of the response. Absent if none arrived.'],
  ['page.retryAfterMs?', 'number', 'How long the response asked to wait (Retry-After), in milliseconds.'],
  [
    'page.price?',
    'object',
    'What the site asks for the page, or charged, with `source`, `raw` and perhaps `amount`, `currency` and `network`.',
  ],
]

const URL_FIELD: Field = ['url', 'string', 'The URL as it was given, without credentials.']

const FINDING: readonly Field[] = [
  ['code', 'string', 'The code of the finding. Codes are never renamed. docs/reference/lint-findings.md lists them.'],
  ['severity', '"error" or "warning" or "note"', 'How serious the finding is.'],
  ['line', 'integer', 'Counted from 1; 0 for the whole file.'],
  ['column', 'integer', 'In UTF-16 code units, counted from 1.'],
  ['message', 'string', 'One sentence for people. It may change.'],
  ['write?', 'string[]', 'What to write instead.'],
]

/** The fields of an object or of the items of an array. */
const within = (parent: string, fields: readonly Field[]): readonly Field[] =>
  fields.map(([path, type, meaning]) => [`${parent}.${path}`, type, meaning])

const CHANGE = (side: string, effect: string): readonly Field[] => [
  [`changes[].${side}`, 'object[]', `Which lines ${effect} URLs.`],
  [`changes[].${side}[].file`, '"old" or "new"', 'The file that has the line.'],
  [`changes[].${side}[].line?`, 'integer', 'The line that makes the difference. Absent if no rule does.'],
  [`changes[].${side}[].rule?`, 'string', 'The rule of the line.'],
  [`changes[].${side}[].count`, 'integer', 'How many URLs change.'],
  [`changes[].${side}[].examples`, 'string[]', 'Some of these URLs.'],
]

const VERDICT: readonly Field[] = [
  ['verdict?', 'object', 'The verdict about the URL that was requested, or refused, last.'],
  ...within('verdict', [URL_FIELD, ...REASON, ...ACCESS]),
]

const WAITED_FOR = 'What the request waited for last: `crawl-delay`, `retry-after` and others, or `none`.'

/** Of `keys check` and `identity check`. */
const OPERATOR_FINDINGS: readonly Field[] = [
  ['findings?', 'object[]', '`check`: one object for each finding.'],
  ['findings[].check', 'string', 'What was checked, such as `DNS`.'],
  ['findings[].result', '"ok" or "warn" or "fail"', 'What came of it.'],
  ['findings[].code', 'string', 'The kind of the finding. Codes are never renamed. docs/identity.md lists them.'],
  ['findings[].text', 'string', 'What was found. It may change.'],
  ['findings[].remedy?', 'string', 'What to do. It may change. Absent if the result is `ok`.'],
]

const WRITTEN_FILES = (meaning: string): readonly Field[] => [
  ['files?', 'object[]', meaning],
  ['files[].file', 'string', 'The name of the file.'],
  ['files[].url?', 'string', 'Where to publish it. Absent for the file of headers.'],
  ['files[].isKept?', 'boolean', 'The page was left as it is, because it was edited.'],
]

/** The fields of an entry of a store. Each verb of `cache` prints some of them. */
const ENTRY: readonly Field[] = [
  ['origin', 'string', 'Scheme, host and port.'],
  [
    'state',
    'string',
    'What is known about the robots.txt, such as `rules`, `unavailable` or `lost`. With `--cache`: `fresh` or `stale`.',
  ],
  ['url?', 'string', '`--cache`: the URL of the page.'],
  ['ageMs?', 'integer', '`--cache`: the age of the page (RFC 9111 §4.2.3), in milliseconds.'],
  ['freshForMs?', 'integer', '`--cache`: how much longer it is fresh, in milliseconds.'],
  ['storedAt?', 'integer', '`--cache`: when it was stored, in milliseconds since 1970.'],
  ['nextVisitAt?', 'integer', '`--cache`: when the next visit is due, in milliseconds since 1970.'],
  ['headers?', 'object[]', '`--cache`, `show`: the headers.'],
  ['headers[].name', 'string', 'In lower case.'],
  ['headers[].value', 'string', 'The value as received.'],
  ['visits?', 'object[]', '`--cache`, `show`: the last visits, the earliest first.'],
  ['visits[].at', 'integer', 'When it was, in milliseconds since 1970.'],
  ['visits[].status', 'integer', 'The status of the response. 0: none arrived.'],
  ['visits[].changed', 'boolean', 'Whether the page had changed since the visit before.'],
  ['visits[].lastModified?', 'integer', 'The Last-Modified of the page, in milliseconds since 1970.'],
  ['result?', '"changed" or "unchanged" or "new" or "unreachable" or "waiting"', '`refresh`: what came of it.'],
  ['attemptedAt?', 'integer', '`ls`, `show`: when the last attempt ended, in milliseconds since 1970.'],
  ['nextAttemptAt?', 'integer', 'When the next attempt is due, in milliseconds since 1970.'],
  ['keepUntil?', 'integer', '`ls`: when the store drops the entry, in milliseconds since 1970.'],
  ['status?', 'integer', '`ls`, `show`: the status of the last attempt, if a server responded, or of the page.'],
  ['bytes?', 'integer', '`ls`: the size of the copy, if there is one, or of the page.'],
  ['why?', 'string', '`show`, `refresh`: one sentence for people. It may change.'],
  ['failures?', 'integer', '`show`: how many attempts have failed in a row.'],
  ['unreachableSince?', 'integer', '`show`: the time of the first of these failures.'],
  ['attempts?', 'object[]', '`show`: the last attempts, the latest first.'],
  ['attempts[].kind', '"success" or "unavailable" or "restricted" or "unreachable"', 'The outcome.'],
  ['attempts[].reason', 'string', 'The reason of the outcome.'],
  ['attempts[].status?', 'integer', 'The status of the last response.'],
  ['attempts[].detail?', 'string', "The platform's message about a failure, for people."],
  ['attempts[].at', 'integer', 'When the attempt ended, in milliseconds since 1970.'],
  ['attempts[].retryAfterMs?', 'number', 'How long the response asked to wait (Retry-After), in milliseconds.'],
  ['attempts[].hops', 'object[]', 'The redirects, each with `url` and `status`.'],
  ['attempts[].url', 'string', 'The last URL that was requested.'],
  ['attempts[].looksLike?', 'string', 'What the response looks like, if it is not a robots.txt.'],
  ['copy?', 'object', '`show`: the last good copy.'],
  ['copy.size', 'integer', 'Its size in bytes.'],
  ['copy.truncated', 'boolean', 'Whether the copy was cut at the size limit.'],
  ['copy.confirmedAt', 'integer', 'When the server last sent or confirmed it, in milliseconds since 1970.'],
  ['copy.url', 'string', 'The URL that the copy came from, after redirects.'],
  ['copy.etag?', 'string', 'The ETag header of its response.'],
  ['copy.lastModified?', 'string', 'The Last-Modified header of its response.'],
  ['copy.lifetimeMs?', 'number', 'For how long the headers say that it is fresh, in milliseconds.'],
  ['copy.looksLike?', 'string', 'What the copy looks like, if it is not a robots.txt.'],
  ['copy.text', 'string', 'The robots.txt.'],
]

const ANSWER = '"allowed" or "disallowed" or "unstated"'
const COMBINATION = '"nothing-stated" or "one-statement" or "agreement" or "most-restrictive"'
const SOURCE: readonly Field[] = [
  ['source', 'object', 'Where it was found.'],
  ['source.channel', 'string', 'The way in which the site says it, such as `content-usage`, `x-robots-tag`, `tdmrep`.'],
  ['source.in', '"robots.txt" or "header" or "html" or "tdmrep.json"', 'The file or the part of the response.'],
  ['source.name', 'string', 'The key, the name of the header or of the element, or the location in tdmrep.json.'],
  ['source.text', 'string', 'The value as written; cut after 200 characters.'],
  ['source.line?', 'integer', 'The line in robots.txt.'],
]
const READING: readonly Field[] = [
  ['by', 'string', 'Who reads so: a document with its section, or an operator.'],
  ['answer?', ANSWER, 'The answer in this reading. Absent for licenses.'],
  ['licenses?', 'string[]', 'The licenses that apply in this reading.'],
  ['sources', 'object[]', 'Where the statements were found, each as `source`.'],
]

/** The fields about a page. All but `url` and `verdict` are absent for an invalid URL. */
const USAGE: readonly Field[] = [
  URL_FIELD,
  ['finalUrl?', 'string', 'The URL of the page after redirects. The answers are about this URL.'],
  ['productTokens?', 'string[]', 'The names that the crawler looks for in robots.txt.'],
  ['purposes?', 'object', `One object for each purpose: ${PURPOSES.map((one) => `\`${one}\``).join(', ')}.`],
  ['purposes.index', 'object', 'What the site says about the purpose `index`.'],
  ['purposes.index.answer', ANSWER, 'The answer. `unstated`: the site says nothing.'],
  ['purposes.index.combination', COMBINATION, 'How the statements make the answer.'],
  ['purposes.index.statements', 'object[]', 'Everything that counts, refusals first.'],
  ...within('purposes.index.statements[]', [
    ['purpose', 'string', 'The purpose.'],
    ['answer', '"allowed" or "disallowed"', 'What the statement says.'],
    ['label', 'string', 'The part of the value that says it, such as `train-ai=n`.'],
    ['vocabulary', 'string', 'The document that defines the label, with its version.'],
    ...SOURCE,
  ]),
  ...PURPOSES.slice(1).map((one): Field => [`purposes.${one}`, 'object', 'As `purposes.index`.']),
  ['conflicts?', 'object[]', 'Where two readings of the same statements differ.'],
  ['conflicts[].kind', 'string', 'What they differ about, such as `own-group`.'],
  ['conflicts[].purpose?', 'string', 'The purpose. Absent for licenses.'],
  ['conflicts[].readings', 'object[]', 'Two readings. The answer follows the first one.'],
  ...within('conflicts[].readings[]', READING),
  [
    'signalUse?',
    '"immediate" or "reference" or "full"',
    'How far content may be used, by Content Signals; the most restrictive of several.',
  ],
  ['licenses?', 'object[]', 'The RSL licenses that the site names. None was fetched.'],
  ['licenses[].url', 'string', 'The URL of the license.'],
  ['licenses[].scope', '"page" or "group" or "site" or "other-group"', 'What it is for.'],
  ['licenses[].applies', 'boolean', 'Whether it applies to the page.'],
  ...within('licenses[]', SOURCE),
  ['tdmPolicy?', 'string', 'The URL of the policy by which reserved text and data mining may be allowed.'],
  ['directives?', 'object', 'The robots tags of the page, as `robotsDirectives` returns them.'],
  ['problems?', 'object[]', 'What was not read or not used.'],
  ['problems[].why', 'string', 'One sentence for people. It may change.'],
  ...within('problems[]', SOURCE),
  ['robots?', 'string', 'The name or URL of the robots.txt.'],
  ['page?', 'object', 'What was read of the page.'],
  ['page.reading', '"read" or "headers-only" or "incomplete" or "not-the-page" or "not-given"', 'How much was read.'],
  ['page.why?', 'string', 'Why not everything was read. One sentence for people. It may change.'],
  ['page.status?', 'integer', 'The status of the response, if the page was requested.'],
  ['tdmrep?', 'object', 'What is known about tdmrep.json.'],
  [
    'tdmrep.reading',
    '"read" or "none" or "unreadable" or "unreachable" or "disallowed" or "ignored" or "not-given"',
    'Whether its rules are used.',
  ],
  ['tdmrep.why', 'string', 'One sentence for people. It may change.'],
  ['tdmrep.url?', 'string', 'The URL of the file.'],
  ['tdmrep.freshness?', '"fresh" or "stale"', '`stale` if the last attempt failed and the last good copy is used.'],
  ['tdmrep.attempt?', 'object', 'The last attempt to fetch it.'],
  ['verdict', 'object', 'Whether the crawler may fetch the page.'],
  ...within('verdict', [URL_FIELD, ...REASON, ...ACCESS]),
]

/** The fields of a document that its lines have one by one. */
const optional = (fields: readonly Field[]): readonly Field[] =>
  fields.map(([path, type, meaning]) => [path.includes('.') || path.endsWith('?') ? path : `${path}?`, type, meaning])

const PLACE: readonly Field[] = [
  ['file', 'string', 'The name of the file in the folder.'],
  ['line', 'integer', 'The line, counted from 1; in a WARC file, the number of the record.'],
]

const FOUND: readonly Field[] = [
  ['check', 'string', 'What it is about, such as `record`.'],
  ['result', '"ok" or "warn" or "fail"', 'What came of it.'],
  ['text', 'string', 'In words, which may change.'],
]

const VERIFIED: readonly Field[] = [
  ...FOUND,
  ['level?', '"error" or "note"', '`note`: a kill or a full disk explains it, or it is only worth knowing.'],
  ['problem?', 'string', 'What is wrong, in words, which may change.'],
  ...optional(PLACE),
  ['records?', 'integer', 'In one object: how many records the folder has.'],
  ['chains?', 'integer', 'How many times a process has begun to write.'],
  ['errors?', 'integer', 'How many findings are errors.'],
  ['notes?', 'integer', 'How many findings are notes.'],
  ['limits?', 'string[]', 'What the check cannot see, in sentences, which may change.'],
]

const REPLAYED: readonly Field[] = [
  ...FOUND,
  ['id?', 'string', 'Of a decision that comes out differently: its id.'],
  ['time?', 'string', 'When it was made, in ISO 8601.'],
  ['url?', 'string', 'The URL.'],
  ...optional(PLACE),
  ['recorded?', 'string', 'The recorded verdict, in words, which may change.'],
  ['replayed?', 'string', 'The verdict of this version.'],
  ['decisions?', 'integer', 'In one object: how many decisions the folder has.'],
  ['same?', 'integer', 'How many come out the same: the same verdict by the same line.'],
  ['different?', 'integer', 'How many come out differently.'],
  ['notReplayable?', 'object', 'How many cannot be made once more, by the reason.'],
]

const EXPLANATION: readonly Field[] = [
  VERSION,
  ['url', 'string', 'The URL.'],
  ['sentences', 'string[]', 'What happened, in sentences, which may change.'],
  ['decision?', 'object', 'The record of the decision, with its `file` and `line`.'],
  ['results', 'object[]', 'The records of its results.'],
]

export const JSON_FORMATS: readonly JsonFormat[] = [
  {
    command: 'check',
    format: 'json',
    about: 'One document for all URLs.',
    fields: [
      VERSION,
      ['verdicts', 'object[]', 'One verdict for each URL, in the order of the URLs.'],
      ...within('verdicts[]', [URL_FIELD, ...REASON, ...ACCESS, ...CHECKED]),
    ],
  },
  {
    command: 'check',
    format: 'ndjson',
    about: 'One line for each URL, in the order of the URLs.',
    fields: [VERSION, URL_FIELD, ...REASON, ...ACCESS, ...CHECKED],
  },
  {
    command: 'explain',
    format: 'json',
    about: 'One document for the URL.',
    fields: [
      VERSION,
      URL_FIELD,
      ['robots', 'string', 'The name or URL of the robots.txt.'],
      ...REASON,
      ...ACCESS,
      ['explanation?', 'object', 'What was compared. Absent if no rules were.'],
      ['explanation.target?', 'string', 'The path and query in normal form.'],
      ['explanation.wonBy', 'string', 'Why the deciding rule won.'],
      ['explanation.groups', 'object[]', 'The groups that apply to the crawler, each as `group`.'],
      ['explanation.matches', 'object[]', 'The rules that match, the deciding one first.'],
      ['explanation.matches[].directive', '"allow" or "disallow"', 'What the rule does.'],
      ['explanation.matches[].text', 'string', 'The pattern as the file has it.'],
      ['explanation.matches[].line', 'integer', 'The line of the rule.'],
      ['explanation.matches[].bytes', 'integer', 'The length of the pattern in normal form.'],
      ['explanation.matches[].form', 'string', 'The pattern in normal form.'],
      ['explanation.matches[].source?', 'string', 'The whole line.'],
      ['explanation.nearRules', 'object[]', 'Up to three rules that would change the verdict, and nearly match.'],
      ['explanation.nearRules[].directive', '"allow" or "disallow"', 'What the rule does.'],
      ['explanation.nearRules[].text', 'string', 'The pattern as the file has it.'],
      ['explanation.nearRules[].line', 'integer', 'The line of the rule.'],
      ['explanation.nearRules[].why', 'string', 'What keeps it from matching, for people.'],
      [
        'redirects?',
        'object[]',
        'With `--follow`: the verdict on each URL, with the `status` of its response or a `failure`.',
      ],
    ],
  },
  {
    command: 'usage',
    format: 'json',
    about: 'One document for all URLs.',
    fields: [VERSION, ['pages', 'object[]', 'One object for each URL, in order.'], ...within('pages[]', USAGE)],
  },
  {
    command: 'usage',
    format: 'ndjson',
    about: 'One line for each URL, in order.',
    fields: [VERSION, ...USAGE],
  },
  {
    command: 'test',
    format: 'json',
    about: 'One document for all expectations.',
    fields: [
      VERSION,
      ['robots', 'string', 'The name or URL of the robots.txt.'],
      ['met', 'boolean', 'Whether every expectation is met.'],
      ['results', 'object[]', 'One result for each expectation, in the order of the files.'],
      [
        'results[].kind',
        '"allow" or "deny" or "deny-only" or "crawl-delay" or "sitemap" or "known-crawlers" or "size" or "status"',
        'What is expected.',
      ],
      ['results[].crawler', 'string', 'The name of a crawler, or `*`, also if the expectation is not about a crawler.'],
      ['results[].paths', 'string[]', 'The paths of the expectation.'],
      ['results[].file', 'string', 'The file of expectations.'],
      ['results[].line', 'integer', 'The line of the expectation.'],
      ['results[].text', 'string', 'The expectation without its comment.'],
      ['results[].met', 'boolean', 'Whether it is met.'],
      ['results[].problems', 'object[]', 'One problem for each path, name or value that is otherwise.'],
      ['results[].problems[].message', 'string', 'One sentence for people. It may change.'],
      ['results[].problems[].line?', 'integer', 'The line of robots.txt that decides, if one does.'],
    ],
  },
  {
    command: 'lint',
    format: 'json',
    about: 'One document for all files.',
    fields: [
      VERSION,
      ['files', 'object[]', 'One object for each file, in the order of the command line.'],
      ['files[].file', 'string', 'The file as it was given, or the URL of the robots.txt.'],
      ['files[].findings', 'object[]', 'The findings, by line.'],
      ...within('files[].findings[]', FINDING),
      ['files[].suppressed', 'integer', 'How many findings a comment of the file suppresses.'],
    ],
  },
  {
    command: 'lint',
    format: 'ndjson',
    about: 'One line for each finding.',
    fields: [VERSION, ['file', 'string', 'The file as it was given, or the URL of the robots.txt.'], ...FINDING],
  },
  {
    command: 'match',
    format: 'ndjson',
    about: 'One line for each URL and crawler, in the order of the URLs.',
    fields: [
      VERSION,
      URL_FIELD,
      ['crawler?', 'string', 'The name of the crawler, if there are several.'],
      ...REASON,
      ['origin?', 'string', 'The origin of the URL, if the file is for another one.'],
      ['fileOrigin?', 'string', 'The origin that the file is for, if the URL is of another one.'],
      ['file?', 'string', 'The file of `--robots-dir` that does not exist.'],
    ],
  },
  {
    command: 'match --by-agent',
    format: 'ndjson',
    about: 'With `--by-agent`: one line for each crawler of the log. The summary is on stderr.',
    fields: [
      VERSION,
      ['crawler', 'string', 'The name as claimed. `*`: names that are not clear, or after the first 1,000.'],
      [
        'identity',
        '"claimed" or "verified" or "not-in-ranges"',
        'Whether the address is in the ranges of `--ranges`. `claimed`: no ranges were given for this crawler.',
      ],
      ['userAgent', 'string', 'The first User-Agent that named the crawler; cut after 500 characters.'],
      ['operator?', 'string', 'Who operates the crawler, if it is known.'],
      ['obeys?', '"yes" or "no" or "unclear"', 'Whether it obeys robots.txt, as its operator documents it.'],
      ['requests', 'integer', 'How many requests were judged.'],
      ['allowed', 'integer', 'How many of them robots.txt allows.'],
      ['disallowed', 'integer', 'How many of them robots.txt disallows.'],
      ['robotsTxt', 'integer', 'How many more requests were for robots.txt.'],
      ['rules', 'object[]', 'At most 20 rules that the crawler broke, the one with the most requests first.'],
      ['rules[].rule', 'object', 'The rule.'],
      ...within('rules[].rule', [
        ['directive', '"allow" or "disallow"', 'What the rule does.'],
        ['text', 'string', 'The pattern as the file has it.'],
        ['line', 'integer', 'The line of the rule, counted from 1.'],
        ['bytes', 'integer', 'The length of the pattern in normal form.'],
      ]),
      ['rules[].requests', 'integer', 'How many requests broke it.'],
      ['rules[].example', 'string', 'The URL of the first of them; cut after 500 characters.'],
    ],
  },
  {
    command: 'audit',
    format: 'json',
    about: 'One document for the file.',
    fields: [
      VERSION,
      ['robots', 'string', 'The name or URL of the robots.txt.'],
      ['date', 'string', 'The date of the catalogue of known crawlers, as `YYYY-MM-DD`.'],
      ['paths', 'string[]', 'The paths that were checked.'],
      ['isSample', 'boolean', 'Whether the paths were made from the rules.'],
      [
        'crawlers',
        'object[]',
        'The crawlers of the catalogue that are in use; with `--purpose`, some. docs/reference/known-crawlers.md lists them.',
      ],
      ['crawlers[].name', 'string', 'The name of the crawler.'],
      ['crawlers[].token', 'string', 'Its product token.'],
      ['crawlers[].operator', 'string', 'Who operates it.'],
      ['crawlers[].purpose', 'string', 'What it fetches pages for: a value of `--purpose`.'],
      ['crawlers[].obeys', '"yes" or "no" or "unclear"', 'Whether its operator says that it obeys robots.txt.'],
      ['crawlers[].isControl', 'boolean', 'Whether it is only a name in robots.txt, which no request carries.'],
      ['crawlers[].isNamed', 'boolean', 'Whether the file names it.'],
      ['crawlers[].disallowed', 'string[]', 'The paths that the file closes to it, whether it obeys or not.'],
      ['crawlers[].rules', 'object[]', 'The rules that decide, each as `rule` of `check`.'],
      ['names', 'object[]', 'The names in the user-agent lines of the file, without `*`.'],
      ['names[].name', 'string', 'The name as the file has it.'],
      ['names[].lines', 'integer[]', 'The lines that have it.'],
      [
        'names[].finding',
        '"known" or "misspelt" or "retired" or "ignored" or "unknown"',
        '`misspelt`: no known crawler has this name, but a similar one, or it is the name of a product. `ignored`: its crawler ignores robots.txt, or may do so.',
      ],
      ['names[].crawler?', 'string', 'The product token of the crawler in the catalogue.'],
      ['names[].operator?', 'string', 'Who operates it.'],
      ['names[].since?', 'string', 'The year since which it is retired, if that is documented.'],
      [
        'names[].replacedBy',
        'string[]',
        'What to write instead: the successors of a retired crawler, or the crawlers of a product of this name.',
      ],
    ],
  },
  {
    command: 'diff',
    format: 'json',
    about: 'One document.',
    fields: [
      VERSION,
      ['isSame', 'boolean', 'Whether no URL changes for any crawler.'],
      ['old', 'string', 'The name or URL of the first robots.txt.'],
      ['new', 'string', 'The name or URL of the second robots.txt.'],
      ['urls', 'integer', 'How many URLs were compared.'],
      ['isSample', 'boolean', 'Whether the URLs were made from the rules.'],
      ['changes', 'object[]', 'One object for each crawler.'],
      ['changes[].crawler', 'string', 'The name of a crawler, or `*`.'],
      ...CHANGE('disallowed', 'close'),
      ...CHANGE('allowed', 'open'),
    ],
  },
  {
    command: 'fetch',
    format: 'ndjson',
    about: 'One line for each URL, in the order of the URLs, on stderr. The pages are on stdout.',
    fields: [
      VERSION,
      URL_FIELD,
      ['outcome', '"fetched" or "refused" or "wait-too-long" or "failed"', 'What happened.'],
      ...PAGE_OUTCOME,
      ['problem?', 'string', 'Why the page did not arrive. One sentence for people. It may change.'],
      ['requests', 'object[]', 'The requests that were sent: one, and one for each redirect. None for a stored page.'],
      ['requests[].url', 'string', 'The URL, without credentials.'],
      ['requests[].status?', 'integer', 'The status of the response. Absent if none arrived.'],
      ['requests[].waitedMs', 'integer', 'How long the request waited for its turn, in milliseconds.'],
      ['requests[].waitedFor', 'string', WAITED_FOR],
      ['cache?', 'object', 'What the cache of `--cache` did for the page.'],
      ['cache.state', '"hit" or "revalidated" or "stored" or "stale" or "bypass"', 'docs/page-cache.md explains them.'],
      ['cache.ageMs', 'number', 'The age of the page (RFC 9111 §4.2.3), in milliseconds. 0 if the site just sent it.'],
      [
        'cache.storedAt?',
        'integer',
        'When it was stored, in milliseconds since 1970. Absent if it was not stored before.',
      ],
      ['cache.because', 'string', 'Why it has this state. For people. It may change.'],
      ['contentType?', 'string', 'The Content-Type of the page.'],
      ['bytes', 'integer', 'The size of the page after decoding, as far as it arrived.'],
      ['tookMs?', 'integer', 'From the start of the last request to the end of the page, in milliseconds.'],
      [
        'waitMs?',
        'integer',
        'How long the next request to the site has to wait, if the response asked for it, such as a 429. In milliseconds.',
      ],
      ['waitFor?', '"retry-after" or "backoff"', 'Whether a Retry-After or the status of the response asks for it.'],
      ...VERDICT,
    ],
  },
  {
    command: 'sitemap',
    format: 'json',
    about: 'One document for all files.',
    fields: [
      VERSION,
      ['files', 'object[]', 'One result for each file, in the order of the requests.'],
      ['files[].url', 'string', 'The URL of the file.'],
      ['files[].hops', 'object[]', 'The redirects, each with `url` and `status`.'],
      ['files[].parent?', 'string', 'The index that lists the file.'],
      ['files[].depth', 'integer', 'The number of indexes above the file.'],
      ['files[].foreign?', 'object', 'The other host, with `origin` and `proof`, if the index is of another one.'],
      ['files[].outcome', '"complete" or "partial" or "failed" or "unchanged" or "skipped"', 'What was read of it.'],
      ['files[].reason?', 'string', 'Why it is not complete. docs/sitemaps.md lists the reasons.'],
      ['files[].detail?', 'string', 'More about the reason, for people.'],
      ['files[].verdict?', 'object', 'The verdict, if robots.txt does not allow the file; as in `check`.'],
      ['files[].status?', 'integer', 'The status of the response.'],
      ['files[].contentType?', 'string', 'The Content-Type of the response.'],
      ['files[].format?', '"urlset" or "index" or "rss" or "atom" or "text"', 'The form of the file.'],
      ['files[].encoding?', 'string', 'Such as `utf-8`.'],
      ['files[].gzipLayers', 'integer', 'How often the file was packed with gzip, apart from Content-Encoding.'],
      ['files[].bytesIn', 'integer', 'The size of the body.'],
      ['files[].bytesOut', 'integer', 'The size after gzip was unpacked.'],
      ['files[].entries', 'integer', 'How many URLs it lists, as far as it was read.'],
      ['files[].skippedEntries', 'integer', 'How many of them `--since` left out.'],
      ['files[].sitemaps', 'integer', 'How many sitemaps an index lists.'],
      ['files[].foreignEntries', 'integer', 'How many URLs are of another host.'],
      ['files[].dates', 'object', 'How far its dates can be trusted: `score` from 0 to 1, and `isTrusted`.'],
      ['files[].problems', 'object[]', 'What is wrong with it, each with `code`, `count` and perhaps `example`.'],
      ['files[].etag?', 'string', 'The ETag of the response.'],
      ['files[].lastModified?', 'string', 'The Last-Modified of the response.'],
      ['returnLinks?', 'object', 'What --return-links found.'],
      ['returnLinks.links', 'integer', 'How many links to pages in other languages were checked.'],
      ['returnLinks.missing', 'integer', 'How many of these pages do not name the page in return.'],
      ['returnLinks.otherHosts', 'integer', 'How many hosts without a listed page have links, which were left out.'],
      ['returnLinks.examples', 'object[]', 'The first of them, each with `from`, `to`, and whether `to` is `listed`.'],
      ['returnLinks.complete', 'boolean', 'Whether every link was checked.'],
    ],
  },
  {
    command: 'sitemap',
    format: 'ndjson',
    about: 'One line for each URL. The files are reported on stderr.',
    fields: [
      VERSION,
      ['loc', 'string', 'The URL of the page.'],
      ['lastmod?', 'integer', 'When the page changed, in milliseconds since 1970.'],
      ['lastmodText?', 'string', 'The date as written.'],
      ['changefreq?', 'string', 'As written.'],
      ['priority?', 'number', 'From 0 to 1.'],
      ['alternates?', 'object[]', 'The page in other languages, each with `href`, `hreflang` and `media`.'],
      ['images?', 'object[]', 'Images of the page.'],
      ['news?', 'object', 'What a news sitemap says.'],
      ['video?', 'object[]', 'Videos of the page.'],
      ['file', 'string', 'The file that lists it.'],
      ['foreign?', 'object', 'The host, with `origin` and `proof`, if it is another one than the host of the file.'],
    ],
  },
  {
    command: 'crawl',
    format: 'ndjson',
    about: 'One line for each URL, when its request has ended. The summary is on stderr.',
    fields: [
      VERSION,
      ['url', 'string', 'The URL, without credentials.'],
      ['outcome', '"fetched" or "refused" or "failed"', 'What happened.'],
      ['status?', 'integer', 'The status of the response. Absent if none arrived.'],
      ['attempts', 'integer', 'How many requests were sent for the page: more than 1 with `--retry`.'],
      ['pushbacks', 'integer', 'How many of the responses had status 429 or 503.'],
      ...PAGE_OUTCOME,
      ['depth', 'integer', 'How many links led to the page.'],
      ['waitedMs', 'integer', 'How long the request waited for its turn, in milliseconds.'],
      ['waitedFor?', 'string', WAITED_FOR],
      ['bytes', 'integer', 'The size of the page after decoding.'],
      ['location?', 'string', 'The target of a redirect.'],
      ['nofollow', 'integer', 'How many links of the page were left out because of nofollow.'],
      ['problem?', 'string', 'Why the page did not arrive. One sentence for people. It may change.'],
      ...VERDICT,
    ],
  },
  {
    command: 'cache',
    format: 'json',
    about: 'One document of `ls`, `show` or `refresh`. docs/stores.md describes the format of `export`.',
    fields: [
      VERSION,
      ['entries', 'object[]', 'One object for each origin, or each page.'],
      ...within('entries[]', ENTRY),
    ],
  },
  {
    command: 'cache',
    format: 'ndjson',
    about: 'One line for each origin, or each page, of `ls`, `show` or `refresh`.',
    fields: [VERSION, ...ENTRY],
  },
  {
    command: 'doctor',
    format: 'json',
    about: 'One document.',
    fields: [
      VERSION,
      ['findings', 'object[]', 'One object for each check, in the order of the checks.'],
      ['findings[].check', 'string', 'The name of the check, such as `DNS`.'],
      ['findings[].result', '"ok" or "warn" or "fail"', 'What came of it.'],
      ['findings[].text', 'string', 'What was found, and what to do. It may change.'],
    ],
  },
  {
    command: 'keys',
    format: 'json',
    about:
      'One document. `new` and `rotate` print `keys`, `directory` prints the response, and `check` prints findings.',
    fields: [
      VERSION,
      ['keys?', 'object[]', '`new`, `rotate`: the keys, the old one first.'],
      ['keys[].file', 'string', 'The key file.'],
      ['keys[].kid', 'string', 'The thumbprint of the key (RFC 7638), which is the `keyid` of its signatures.'],
      ['keys[].publicKey', 'object', 'The public part, as a JWK.'],
      ['keys[].signsFrom', 'integer', 'From when to sign with it, in milliseconds since 1970.'],
      ['keys[].publishedUntil?', 'integer', 'Until when to publish it, in milliseconds since 1970.'],
      ['url?', 'string', '`directory`: where it belongs.'],
      ['headers?', 'object', '`directory`: the headers of the response, by name.'],
      ['body?', 'string', '`directory`: the body of the response.'],
      ['kids?', 'string[]', '`directory`: the thumbprints of its keys.'],
      ['validUntil?', 'integer', '`directory`: when its signatures end, in milliseconds since 1970.'],
      ...WRITTEN_FILES('`directory` with `--output`: the files.'),
      ...OPERATOR_FINDINGS,
    ],
  },
  {
    command: 'identity',
    format: 'json',
    about: 'One document. `init` prints the files, and `check` prints findings.',
    fields: [
      VERSION,
      ['userAgent?', 'string', '`init`: the User-Agent of the crawler.'],
      ...WRITTEN_FILES('`init`: the files.'),
      ['validUntil?', 'integer', '`init`: when the signatures of the directory end, in milliseconds since 1970.'],
      ...OPERATOR_FINDINGS,
    ],
  },
  {
    command: 'evidence verify',
    format: 'json',
    about: '`verify`: one document.',
    fields: [
      VERSION,
      ['findings', 'object[]', 'What is wrong or worth knowing, and the counts.'],
      ...within('findings[]', VERIFIED),
    ],
  },
  {
    command: 'evidence verify',
    format: 'ndjson',
    about: '`verify`: one line for each finding. One of the last has the counts.',
    fields: [VERSION, ...VERIFIED],
  },
  { command: 'evidence explain', format: 'json', about: '`explain`: one document.', fields: EXPLANATION },
  { command: 'evidence explain', format: 'ndjson', about: '`explain`: one line.', fields: EXPLANATION },
  {
    command: 'evidence replay',
    format: 'json',
    about: '`replay`: one document.',
    fields: [
      VERSION,
      ['findings', 'object[]', 'Each decision that comes out differently, and the counts.'],
      ...within('findings[]', REPLAYED),
    ],
  },
  {
    command: 'evidence replay',
    format: 'ndjson',
    about: '`replay`: one line for each finding. One of the last has the counts.',
    fields: [VERSION, ...REPLAYED],
  },
  {
    command: 'evidence report',
    format: 'json',
    about: '`report`: one document. Counts are absent for never.',
    fields: [
      VERSION,
      ['from', 'string', 'The time of the first record, in ISO 8601.'],
      ['to', 'string', 'The time of the last record, in ISO 8601.'],
      ['totals', 'object', 'How many decisions, refusals and requests, and how requests ended.'],
      ['refusals', 'object[]', 'Refusals by site and by the line or reason: `count`, `sha256`, `line` and `rule`.'],
      ['waits', 'object[]', 'Waits by cause: `cause`, `count`, `totalMs` and `longestMs`.'],
      ['bars', 'object[]', 'Requests and refusals over time: `time`, `started` and `refused`.'],
      ['barMs', 'number', 'How long a bar is. Milliseconds.'],
      ['sites', 'object[]', 'What each crawler did at each site, and the shortest gap against the delay asked for.'],
      ['changes', 'object[]', 'Each change of a robots.txt during the crawl, and what it did.'],
      ['lostRecords', 'integer', 'How many records could not be written.'],
      ['unreadable', 'integer', 'How many lines are not records.'],
      ['withoutResult', 'integer', 'How many requests have no result.'],
      ['unmeasured', 'integer', 'How many requests the gaps leave out.'],
    ],
  },
]

/** A JSON schema, as far as the formats need it. */
interface Schema {
  readonly [keyword: string]: unknown
  readonly items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

/** Returns the schema of a format, with its name in docs/reference/schemas. */
export function schemaOf({ command, format, about, fields }: JsonFormat): Schema & { readonly $id: string } {
  const root = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `https://raw.githubusercontent.com/politely-crawler/politely/main/${schemaFile({ command, format })}`,
    title: `politely ${command} --format ${format}`,
    description: about,
    type: 'object',
  }
  for (const [path, type, meaning] of fields) {
    const steps = path.split('.')
    const last = steps.pop() as string
    const parent = steps.reduce<Schema>((schema, step) => {
      const child = schema.properties?.[step.replace('[]', '')] as Schema
      return step.endsWith('[]') ? (child.items as Schema) : child
    }, root)
    const name = last.replace('?', '')
    parent.properties = { ...parent.properties, [name]: { description: meaning, ...schemaOfType(type) } }
    if (!last.endsWith('?')) parent.required = [...(parent.required ?? []), name]
  }
  return root
}

/** Returns the path of a schema from the root of the repository. */
export function schemaFile({ command, format }: Pick<JsonFormat, 'command' | 'format'>): string {
  return `docs/reference/schemas/${command.replace(/ (?:--)?/, '-')}-${format}.schema.json`
}

function schemaOfType(type: string): Schema {
  if (type === '1') return { const: 1 }
  if (type.startsWith('"')) return { enum: type.split(' or ').map((value) => JSON.parse(value)) }
  if (type.endsWith('[]')) return { type: 'array', items: schemaOfType(type.slice(0, -2)) }
  return { type }
}

/** Returns the schema without room for fields that are not in it. Users must accept new fields; the tests must not. */
export function closed(schema: Schema): Schema {
  const { properties, items } = schema
  return {
    ...schema,
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])),
      additionalProperties: false,
    }),
  }
}

/** Formats JSON with each object or array on one line, if it fits there. */
export function compactJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, ' ')
  if (typeof value !== 'object' || value === null || line.length + indent.length <= 140) return line
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = Object.entries(value).map(
    ([name, each]) => `${inner}${isList ? '' : `${JSON.stringify(name)}: `}${compactJson(each, inner)}`,
  )
  return `${isList ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${isList ? ']' : '}'}`
}
