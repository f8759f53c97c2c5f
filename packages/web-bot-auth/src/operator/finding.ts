// What the checks of an operator's side say: one row for each sentence.

/** One finding of `checkDirectory` or `checkIdentity`. Experimental. */
export interface Finding {
  /** What was checked, such as `directory` or `DNS`. */
  readonly check: string
  readonly result: Result
  /** The kind of the finding. It never changes its meaning: docs/identity.md lists the codes. */
  readonly code: FindingCode
  /** What was found. For people; it may change. */
  readonly text: string
  /** What to do. Absent if `result` is `ok`. */
  readonly remedy?: string
}

/** @inline */
type Result = 'ok' | 'warn' | 'fail'

/**
 * By check and code: what was found, and what to do about it. `warn` marks a warning, and a row
 * without a remedy says what works. A code with several sentences has a row for each of them, with a
 * word after a slash. `{name}` stands for a value, or for one of `PHRASES`.
 */
export const SENTENCES = {
  'User-Agent': {
    'user-agent-ok': '{userAgent}',
    'user-agent-without-token': [
      '{sent} does not have {productToken} in it, so a site cannot tell which rules of robots.txt are yours',
      'send {productToken}/1.0 (+{page})',
    ],
    'user-agent-without-page': ['{sent} does not have the URL of your page in it', 'add (+{page})', 'warn'],
  },
  page: {
    'page-ok': '{page} names {productToken} and {contact}',
    'page-not-html': ['{page} has {type}', 'send Content-Type: text/html; charset=utf-8'],
    'page-without-token': [
      '{page} does not say the name {productToken}',
      'say that robots.txt rules for {productToken} count',
    ],
    'page-without-contact': ['{page} does not have the contact {contact}', 'write it there'],
    'page-without-ranges-link': [
      '{page} does not link the IP ranges for programs',
      'write <link rel="client-ranges" href="{rangesUrl}"> into its head',
      'warn',
    ],
  },
  'robots.txt': {
    'page-allowed': '{page} is allowed for {productToken} and for other crawlers',
    'page-disallowed': ['{page} is for {who} {verdict}', 'allow it: Allow: {path}'],
    'page-disallowed/unreachable': [
      '{page} is for {who} {verdict}',
      'send the robots.txt with status 200, or status 404 if there is none',
    ],
  },
  'IP ranges': {
    'ranges-ok': '{rangesUrl} has the {count} of the identity file',
    'ranges-none': [
      'the identity file has no ranges, so sites cannot recognise you by your addresses',
      'write "ranges": ["192.0.2.0/28"], with your addresses, if they do not change',
      'warn',
    ],
    'ranges-not-json': ['{rangesUrl} is not a JSON object with a list "prefixes"{note}', '{republish}'],
    'ranges-invalid': ['entry {entry} of {rangesUrl} is not a range: {json}{hint}', '{republish}'],
    'ranges-private': [
      '{range} in {rangesUrl} is not public',
      'publish the addresses that sites see, such as that of your NAT',
    ],
    'ranges-differ': ['{differences}', '{republish}'],
    'ranges-time': [
      'creationTime of {rangesUrl} is {created}',
      'write the UTC time at which you made the file, such as "2026-11-27T12:00:00.000000"',
      'warn',
    ],
  },
  DNS: {
    'dns-ok': '{confirmed} of {all} addresses are confirmed, such as {example}',
    'dns-without-ptr': [
      'no PTR record: {named}',
      'ask whoever gave you the addresses to set PTR records; without them, sites can recognise you by ranges only',
    ],
    'dns-not-confirmed': [
      'not confirmed: {named}',
      'add an A or AAAA record for each name, with the address of its PTR record',
    ],
    'dns-other-domain': [
      'not under {domains}: {named}',
      'set the PTR record to a name under that domain, or add the domain to hostNames',
    ],
    'dns-failed': ['no answer: {named}', 'try again, or name another DNS server', 'warn'],
  },
  card: {
    'card-ok': '{card} says what the identity file says',
    'card-not-json': ['{card} is not a JSON object{note}', '{republish}'],
    'card-differs': ['{card}: {differences}', '{republish}'],
  },
  directory: {
    'directory-ok': '{url} has {count}',
    'directory-media-type': ['{url} has {type}', 'send Content-Type: {wantedType}'],
    'directory-not-json': ['{url} is not JSON with a list "keys"{note}', '{sign}'],
    'directory-empty': ['{url} has no key', '{sign}'],
    'directory-too-large/bytes': ['{url} has {bytes} bytes, and verifiers may read no more than {max}', '{sign}'],
    'directory-too-large/keys': [
      '{url} has {keys} keys, and verifiers may read no more than {max}',
      'remove the keys that you no longer sign with',
    ],
    'directory-private-key': [
      '{name} of {url} is a private key, which anyone can sign with now',
      'remove it at once, create another with politely keys new, and publish only what politely keys directory prints',
    ],
    'directory-cache/none': [
      '{url} has no Cache-Control with max-age, so each verifier decides how long it keeps the keys',
      '{cache}',
      'warn',
    ],
    'directory-cache/never': [
      'verifiers must not keep {url}, so each of your requests may wait for it',
      '{cache}',
      'warn',
    ],
    'directory-cache/long': [
      'verifiers may keep {url} for {maxAge} s, and use a key that you have removed',
      '{cache}',
      'warn',
    ],
    'key-ok': '{name} ({kid}) is valid{limit}',
    'key-invalid/kind': [
      '{name} is not a public Ed25519 key (kty {kty}, crv {crv})',
      'create one with politely keys new: verifiers such as Cloudflare know Ed25519 only',
    ],
    'key-invalid/bits': [
      '{name} ({kid}) has an x that ends in unused bits, so its thumbprint is another one for each verifier',
      '{sign}',
    ],
    'key-invalid/time': [
      '{name} ({kid}) has the {member} {time}, which is no time in seconds since 1970',
      'write whole seconds, not milliseconds or a date',
    ],
    'key-id': ['{name} has the kid {ownKid}, and its thumbprint is {kid}', 'write "kid": "{kid}", or leave kid out'],
    'key-duplicate': ['{name} of {url} is there already: {kid}', 'remove it', 'warn'],
    'key-usage': [
      '{name} ({kid}) says that it is not for signatures with Ed25519: {usage}',
      'write "use": "sig", or leave use, key_ops and alg out',
    ],
    'key-published-private': [
      '{name} is a test key of RFC 9421, whose private part is published there',
      'remove it, and create another with politely keys new',
    ],
    'key-expired': ['{name} ({kid}) expired at {end}', 'rotate it: politely keys rotate OLD NEW'],
    'key-not-yet-valid': ['{name} ({kid}) is valid from {start}', 'do not sign with it before', 'warn'],
    'key-missing': ['your key {kid} is not in {url}', '{sign}, before you sign with this key'],
    'signature-ok': '{kid} has signed it, until {end}',
    'signature-missing': [
      'the key {kid} has not signed the response{why}',
      '{sign}: it proves that the keys are yours, and Cloudflare asks for one signature of each key',
    ],
    'signature-malformed/headers': ['Signature or Signature-Input of {url} is not a dictionary (RFC 9651)', '{sign}'],
    'signature-malformed/times': [
      'the signature of {kid} has no bytes, or no whole numbers created and expires, in seconds and in this order',
      '{sign}',
    ],
    'signature-malformed/component': ['the signature of {kid}: {problem}', '{sign}'],
    'signature-not-covered/host': [
      'the signature of {kid} does not cover "@authority";req, so it would fit any host',
      '{sign}',
    ],
    'signature-not-covered/digest': [
      'the signature of {kid} does not cover content-digest, which the draft of the working group demands',
      '{sign}',
      'warn',
    ],
    'signature-wrong/alg': ['the signature of {kid} has the alg {alg}, and the key is for {wantedAlg}', '{sign}'],
    'signature-wrong/digest': [
      'Content-Digest is not that of the body of {url}, so a proxy or an editor has changed it',
      'send the body as politely keys directory wrote it, byte for byte',
    ],
    'signature-wrong/key': [
      'the key {kid} has not signed this response of {host}',
      '{sign}; --agent must be the host at which it is published',
    ],
    'signature-expired': ['the signature of {kid} expired at {end}', 'sign again: {sign}'],
    'signature-in-future': [
      'the signature of {kid} was made at {start}, which is in the future',
      'set the clock of the machine that signs (NTP), and sign again',
    ],
    'signature-lasts-long': [
      'the signature of {kid} is valid until {end}, over 90 days, so an old copy proves a key that you have removed',
      'sign for a week: {sign}',
      'warn',
    ],
    'signature-expires-soon': [
      'the signature of {kid} expires at {end}, before a copy of the response that is made now ({kept} s)',
      'sign again: {sign}',
      'warn',
    ],
  },
  clock: {
    'clock-ok': 'this machine agrees with the Date of the responses',
    'clock-off': [
      '{host} is {seconds} s {where} this machine',
      'set both clocks by NTP: a signature that seems to be of the future, or to have expired, counts as invalid',
    ],
  },
} as const

/** What the request for a file of `FILES` finds. Its code begins with the kind of the file. */
export const REQUEST_SENTENCES = {
  unreachable: ['{url}: {problem}', '{remedy}'],
  'unreachable/private': [
    '{url} is not public: {problem}',
    'publish it at a public address; to check your own network, allow the address',
  ],
  status: ['{url} has status {status}', 'put the file of politely identity init there'],
  'status/closed': ['{url} has status {status}', 'let every visitor have it, without login or challenge'],
  'status/moved': [
    '{url} has status {status}, to {location}',
    'serve it at this URL itself: a verifier follows no redirect',
  ],
  encoded: [
    '{url} has Content-Encoding: {encoding}, which was not asked for',
    'send it as it is to a client whose Accept-Encoding is identity',
  ],
} as const

/** The kinds of files that are requested, and the check that each belongs to. */
export const FILES = { page: 'page', ranges: 'IP ranges', card: 'card', directory: 'directory' } as const

const PHRASES = {
  republish: 'publish the file of politely identity init',
  sign: 'publish the response of politely keys directory, with its headers',
  cache: 'send Cache-Control: max-age=3600',
} as const

type Table = typeof SENTENCES
type Row = { readonly [C in keyof Table]: keyof Table[C] }[keyof Table]
type CodeOf<Name> = Name extends `${infer Code}/${string}` ? Code : Name

/** @inline */
type Code = CodeOf<Row> | `${FileKind}-${CodeOf<keyof typeof REQUEST_SENTENCES>}`

/** A code of a finding. Experimental. */
export type FindingCode = Code
export type FileKind = keyof typeof FILES

type Sentences = string | readonly [text: string, remedy: string, result?: 'warn']
type SentencesOf<R> = { [C in keyof Table]: R extends keyof Table[C] ? Table[C][R] : never }[keyof Table]
type NamesIn<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type NamesOf<S> = Exclude<NamesIn<S extends readonly string[] ? S[number] : S>, keyof typeof PHRASES>
/** What the sentences of some rows need. */
type ValuesFor<S> = { readonly [Name in NamesOf<S>]: string | number }

const ROWS = Object.entries(SENTENCES).flatMap(([check, rows]) =>
  Object.entries<Sentences>(rows).map(([row, sentences]) => [row, [check, sentences]] as const),
)
const BY_ROW: ReadonlyMap<string, readonly [check: string, Sentences]> = new Map(ROWS)

/** Returns the finding of a row. @param result Default: as the row says. */
export function finding<R extends Row>(row: R, values: ValuesFor<SentencesOf<R>>, result?: Result): Finding {
  const [check, sentences] = BY_ROW.get(row) as readonly [string, Sentences]
  return filledIn(check, row, sentences, values, result)
}

/** Returns the finding of a row of `REQUEST_SENTENCES`. */
export function requestFinding<R extends keyof typeof REQUEST_SENTENCES>(
  kind: FileKind,
  row: R,
  values: ValuesFor<(typeof REQUEST_SENTENCES)[R]>,
): Finding {
  return filledIn(FILES[kind], `${kind}-${row}`, REQUEST_SENTENCES[row], values)
}

function filledIn(check: string, row: string, sentences: Sentences, values: object, own?: Result): Finding {
  const [text, remedy, level = 'fail'] =
    typeof sentences === 'string' ? [sentences, undefined, 'ok' as const] : sentences
  const table = { ...PHRASES, ...values } as Readonly<Record<string, string | number>>
  const filled = (sentence: string) => sentence.replace(/\{(\w+)\}/g, (_, name) => String(table[name]))
  const [code] = row.split('/') as [FindingCode]
  const result = own ?? level
  return { check, result, code, text: filled(text), ...(remedy !== undefined && { remedy: filled(remedy) }) }
}

/**
 * Returns the findings of those rows whose condition is true, or names another result; or else the
 * finding of the row `otherwise`.
 */
export function findingsOf<R extends Row, O extends Row = never>(
  values: ValuesFor<SentencesOf<R | O>>,
  conditions: Readonly<Record<R, boolean | 'warn'>>,
  otherwise?: O,
): readonly Finding[] {
  const findings = (Object.entries(conditions) as [R, boolean | 'warn'][]).flatMap(([row, isSo]) =>
    isSo === false ? [] : [finding(row, values, isSo === true ? undefined : isSo)],
  )
  return findings.length > 0 || otherwise === undefined ? findings : [finding(otherwise, values)]
}

/**
 * Returns a time, given in milliseconds since 1970, for people. A stranger may have written any
 * number.
 */
export function timeText(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms / 1000} s after 1970` : date.toISOString()
}

/** Returns the beginning of a value as JSON. */
export function jsonText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 200)
  } catch {
    return 'JSON that is nested too deep to show' // JSON.parse reads it, and JSON.stringify overflows the stack
  }
}
