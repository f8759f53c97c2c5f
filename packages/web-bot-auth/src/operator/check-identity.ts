// checkIdentity: looks at what an operator publishes, as a stranger does, and names each fault.
import { isDeepStrictEqual } from 'node:util'
import { describeVerdict } from '@politely/core'
import { headerOf } from '@politely/core/internal'
import { NetworkGuard, RobotsClient } from '@politely/fetcher'
import { assertOptions, describeValue, withMethods } from '@politely/fetcher/internal'
import { type Got, pageNote } from '../bounded-get.ts'
import { directoryFindings } from './check-directory.ts'
import { type DnsResolver, dnsFindings } from './check-dns.ts'
import { type Finding, fail, jsonText, ok, warn } from './finding.ts'
import type { Identity } from './identity.ts'
import { cardJson } from './identity-files.ts'
import { edgesOf, type IpRange, ipRange } from './ip-range.ts'
import { hasName, pageText, withoutComments } from './page-text.ts'
import { STRANGER_OPTIONS, Stranger, type StrangerOptions } from './stranger.ts'

/** Options of `checkIdentity`. Experimental. */
export interface CheckIdentityOptions extends StrangerOptions {
  /** The thumbprints of keys that must be in the directory. */
  readonly kids?: readonly string[] | undefined
  /** Asks for PTR, A and AAAA records. Default: the DNS servers of this machine. */
  readonly resolver?: DnsResolver | undefined
}

const REPUBLISH = 'publish the file of politely identity init'

/**
 * Checks what an operator publishes: the User-Agent, the page and its robots.txt, the IP ranges,
 * their PTR records, the card, the key directory, and the clocks. Yields each finding at once.
 * Never throws for what is found. Experimental.
 * @throws {OptionError} for an invalid or unknown option.
 */
export async function* checkIdentity(identity: Identity, options: CheckIdentityOptions = {}): AsyncGenerator<Finding> {
  const { kids = [], resolver, ...shared } = options
  assertOptions(options, '{ timeoutMs: 10000 }', { ...STRANGER_OPTIONS, kids: true, resolver: true })
  Stranger.assertKids(kids)
  if (resolver !== undefined)
    withMethods('resolver', resolver, ['resolvePtr', 'resolve4', 'resolve6'], 'new Resolver() of node:dns/promises')
  const stranger = new Stranger(shared)
  yield* userAgentFindings(identity)
  yield* await pageFindings(identity, stranger)
  yield* await robotsFindings(identity, shared)
  yield* await rangesFindings(identity, stranger, shared)
  yield* await dnsFindings(identity, stranger.timeoutMs, resolver)
  if (identity.directory !== undefined) {
    yield* await cardFindings(identity, stranger)
    yield* await directoryFindings(identity.directory, kids, stranger)
  }
  yield* stranger.clockFindings()
}

function userAgentFindings({ userAgent, productToken, page }: Identity): readonly Finding[] {
  const findings: Finding[] = []
  // A name is read up to the first other character, so ExampleBot is not in ExampleBotPlus.
  const names: readonly string[] = userAgent.toLowerCase().match(/[a-z0-9_-]+/g) ?? []
  if (!names.includes(productToken.toLowerCase()))
    findings.push(
      fail(
        'User-Agent',
        'user-agent-without-token',
        `${JSON.stringify(userAgent)} does not have ${productToken} in it, so a site cannot tell which rules of robots.txt are yours`,
        `send ${productToken}/1.0 (+${page})`,
      ),
    )
  if (!userAgent.includes(page))
    findings.push(
      warn(
        'User-Agent',
        'user-agent-without-page',
        `${JSON.stringify(userAgent)} does not have the URL of your page in it`,
        `add (+${page})`,
      ),
    )
  return findings.length > 0 ? findings : [ok('User-Agent', 'user-agent-ok', userAgent)]
}

async function pageFindings(identity: Identity, stranger: Stranger): Promise<readonly Finding[]> {
  const { page, productToken, contact, ranges, rangesUrl } = identity
  const got = await stranger.get('page', 'page', page, 'text/html')
  if ('result' in got) return [got]
  const type = headerOf(got.headers, 'content-type') ?? ''
  if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(type))
    return [
      fail(
        'page',
        'page-not-html',
        `${page} has ${type === '' ? 'no Content-Type' : `Content-Type: ${type}`}`,
        'send Content-Type: text/html; charset=utf-8',
      ),
    ]
  const html = got.body.toString()
  const text = pageText(html)
  const findings: Finding[] = []
  if (!hasName(text, productToken))
    findings.push(
      fail(
        'page',
        'page-without-token',
        `${page} does not say the name ${productToken}`,
        `say that robots.txt rules for ${productToken} count`,
      ),
    )
  if (!hasName(text, contact) && !hasName(text, encodeURIComponent(contact)))
    findings.push(
      fail('page', 'page-without-contact', `${page} does not have the contact ${contact}`, 'write it there'),
    )
  if (ranges.length > 0 && !linksRanges(withoutComments(html), got))
    findings.push(
      warn(
        'page',
        'page-without-ranges-link',
        `${page} does not link the IP ranges for programs`,
        `write <link rel="client-ranges" href="${rangesUrl}"> into its head`,
      ),
    )
  return findings.length > 0 ? findings : [ok('page', 'page-ok', `${page} names ${productToken} and ${contact}`)]
}

function linksRanges(html: string, got: Got): boolean {
  const isInHead = (html.match(/<link\b[^>]{0,2000}>/gi) ?? []).some((tag) =>
    /\brel\s*=\s*["']?client-ranges\b/i.test(tag),
  )
  return isInHead || /\brel\s*=\s*"?client-ranges\b/i.test(headerOf(got.headers, 'link') ?? '')
}

/** Whether a stranger, and the crawler itself, may read the page. */
async function robotsFindings(identity: Identity, options: StrangerOptions): Promise<readonly Finding[]> {
  const { page, productToken, userAgent } = identity
  const { timeoutMs, allowAddresses, lookup } = options
  const findings: Finding[] = []
  const crawlers = [
    { userAgent, productToken, who: productToken },
    { userAgent: 'politely-check/1.0', productToken: 'politely-check', who: 'other crawlers' },
  ]
  for (const { who, ...names } of crawlers) {
    const network = 'public-only'
    const client = new RobotsClient({ ...names, network, allowAddresses, lookup, timeoutMs: timeoutMs ?? 10_000 })
    try {
      const verdict = await client.check(page)
      if (verdict.allowed) continue
      findings.push(
        fail(
          'robots.txt',
          'page-disallowed',
          `${page} is for ${who} ${describeVerdict(verdict)}`,
          verdict.because === 'unreachable'
            ? 'send the robots.txt with status 200, or status 404 if there is none'
            : `allow it: Allow: ${new URL(page).pathname}`,
        ),
      )
    } finally {
      await client.close()
    }
  }
  if (findings.length > 0) return findings
  return [ok('robots.txt', 'page-allowed', `${page} is allowed for ${productToken} and for other crawlers`)]
}

async function rangesFindings(
  { ranges, rangesUrl }: Identity,
  stranger: Stranger,
  { allowAddresses }: StrangerOptions,
): Promise<readonly Finding[]> {
  const CHECK = 'IP ranges'
  if (ranges.length === 0)
    return [
      warn(
        CHECK,
        'ranges-none',
        'the identity file has no ranges, so sites cannot recognise you by your addresses',
        'write "ranges": ["192.0.2.0/28"], with your addresses, if they do not change',
      ),
    ]
  const got = await stranger.get(CHECK, 'ranges', rangesUrl, 'application/json')
  if ('result' in got) return [got]
  const file = jsonObject(got)
  if (file === undefined || !Array.isArray(file.prefixes))
    return [
      fail(
        CHECK,
        'ranges-not-json',
        `${rangesUrl} is not a JSON object with a list "prefixes"${pageNote(got.body)}`,
        REPUBLISH,
      ),
    ]
  const findings: Finding[] = []
  const wrong: Finding[] = []
  const published: IpRange[] = []
  const guard = new NetworkGuard({ network: 'public-only', allowAddresses })
  for (const [i, entry] of (file.prefixes as readonly unknown[]).slice(0, 10_000).entries()) {
    const { ipv4Prefix, ipv6Prefix } = Object(entry) as Readonly<Record<string, unknown>>
    const text = ipv4Prefix ?? ipv6Prefix
    const range = typeof text === 'string' && text.includes('/') ? ipRange(text) : undefined
    const isOfKind = range?.version === (ipv4Prefix === undefined ? 6 : 4)
    if (range === undefined || !isOfKind || range.hasHostBits) {
      const hint = range?.hasHostBits ? `; its first address is ${range.text}` : ''
      wrong.push(
        fail(
          CHECK,
          'ranges-invalid',
          `entry ${i + 1} of ${rangesUrl} is not a range: ${jsonText(entry)}${hint}`,
          REPUBLISH,
        ),
      )
    } else if (edgesOf(range).some((address) => guard.refusalOfHost(address) !== undefined))
      wrong.push(
        fail(
          CHECK,
          'ranges-private',
          `${range.text} in ${rangesUrl} is not public`,
          'publish the addresses that sites see, such as that of your NAT',
        ),
      )
    else published.push(range)
  }
  findings.push(...wrong.slice(0, MAX_NAMED))
  const [wanted, there] = [ranges, published].map((list) => new Set(list.map(({ text }) => text)))
  const missing = [...(wanted as Set<string>)].filter((text) => !there?.has(text))
  const extra = [...(there as Set<string>)].filter((text) => !wanted?.has(text))
  if (findings.length === 0 && missing.length + extra.length > 0)
    findings.push(
      fail(
        CHECK,
        'ranges-differ',
        [
          ...(missing.length > 0 ? [`${someOf(missing)} is not in ${rangesUrl}`] : []),
          ...(extra.length > 0 ? [`${someOf(extra)} is only there`] : []),
        ].join('; '),
        REPUBLISH,
      ),
    )
  const created = typeof file.creationTime === 'string' ? timeOf(file.creationTime) : Number.NaN
  if (Number.isNaN(created) || created > stranger.now() + 60_000)
    findings.push(
      warn(
        CHECK,
        'ranges-time',
        `creationTime of ${rangesUrl} is ${describeValue(file.creationTime)}`,
        'write the UTC time at which you made the file, such as "2026-11-27T12:00:00.000000"',
      ),
    )
  return findings.length > 0
    ? findings
    : [
        ok(
          CHECK,
          'ranges-ok',
          `${rangesUrl} has the ${ranges.length} range${ranges.length > 1 ? 's' : ''} of the identity file`,
        ),
      ]
}

/** How many faults of one kind are named. */
const MAX_NAMED = 5

function someOf(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMED
  return `${texts.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Google writes UTC without a zone. */
function timeOf(text: string): number {
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
}

async function cardFindings(identity: Identity, stranger: Stranger): Promise<readonly Finding[]> {
  const { card } = identity
  const got = await stranger.get('card', 'card', card, 'application/json')
  if ('result' in got) return [got]
  const found = jsonObject(got)
  if (found === undefined)
    return [fail('card', 'card-not-json', `${card} is not a JSON object${pageNote(got.body)}`, REPUBLISH)]
  const expected = cardJson(identity)
  const differs = (of: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>, prefix: string) =>
    Object.keys(wanted)
      .filter((field) => field !== 'web_bot_auth' && !isDeepStrictEqual(of[field], wanted[field]))
      .map((field) => `${prefix}${field} is ${jsonText(of[field])}, not ${jsonText(wanted[field])}`)
  const [own, wantedOwn] = [found, expected].map(
    ({ web_bot_auth: of }) => Object(of) as Readonly<Record<string, unknown>>,
  )
  const wrong = [...differs(found, expected, ''), ...differs(own ?? {}, wantedOwn ?? {}, 'web_bot_auth.')]
  if (wrong.length > 0) return [fail('card', 'card-differs', `${card}: ${wrong.join('; ')}`, REPUBLISH)]
  return [ok('card', 'card-ok', `${card} says what the identity file says`)]
}

function jsonObject({ body }: Got): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as never) : undefined
  } catch {
    return undefined
  }
}
