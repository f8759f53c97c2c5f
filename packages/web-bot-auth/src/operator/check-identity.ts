// checkIdentity: looks at what an operator publishes, as a stranger does, and names each fault.
import { isDeepStrictEqual } from 'node:util'
import { describeVerdict } from '@politely/core'
import { headerOf, withoutComments } from '@politely/core/internal'
import { NetworkGuard, RobotsClient } from '@politely/fetcher'
import { assertOptions, describeValue, withMethods } from '@politely/fetcher/internal'
import { type Got, pageNote } from '../bounded-get.ts'
import { directoryFindings } from './check-directory.ts'
import { type DnsResolver, dnsFindings } from './check-dns.ts'
import { type Finding, finding, findingsOf, jsonText } from './finding.ts'
import type { Identity } from './identity.ts'
import { cardJson } from './identity-files.ts'
import { edgesOf, type IpRange, ipRange } from './ip-range.ts'
import { hasName, pageText } from './page-text.ts'
import { jsonObject, STRANGER_OPTIONS, Stranger, type StrangerOptions } from './stranger.ts'

/** Options of `checkIdentity`. */
export interface CheckIdentityOptions extends StrangerOptions {
  /** The thumbprints of keys that must be in the directory. */
  readonly kids?: readonly string[] | undefined
  /** Asks for PTR, A and AAAA records. Default: the DNS servers of this machine. */
  readonly resolver?: DnsResolver | undefined
}

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

function userAgentFindings(identity: Identity): readonly Finding[] {
  const { userAgent, productToken, page } = identity
  // A name is read up to the first other character, so ExampleBot is not in ExampleBotPlus.
  const names: readonly string[] = userAgent.toLowerCase().match(/[a-z0-9_-]+/g) ?? []
  const conditions = {
    'user-agent-without-token': !names.includes(productToken.toLowerCase()),
    'user-agent-without-page': !userAgent.includes(page),
  }
  return findingsOf({ ...identity, sent: JSON.stringify(userAgent) }, conditions, 'user-agent-ok')
}

async function pageFindings(identity: Identity, stranger: Stranger): Promise<readonly Finding[]> {
  const { page, productToken, contact, ranges } = identity
  const got = await stranger.get('page', page, 'text/html')
  if ('result' in got) return [got]
  const type = headerOf(got.headers, 'content-type') ?? ''
  if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(type))
    return [finding('page-not-html', { page, type: type === '' ? 'no Content-Type' : `Content-Type: ${type}` })]
  const html = got.body.toString()
  const text = pageText(html)
  const conditions = {
    'page-without-token': !hasName(text, productToken),
    'page-without-contact': !hasName(text, contact) && !hasName(text, encodeURIComponent(contact)),
    'page-without-ranges-link': ranges.length > 0 && !linksRanges(withoutComments(html), got),
  }
  return findingsOf(identity, conditions, 'page-ok')
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
      const row = verdict.because === 'unreachable' ? 'page-disallowed/unreachable' : 'page-disallowed'
      const path = new URL(page).pathname
      findings.push(finding(row, { page, who, path, verdict: describeVerdict(verdict) }))
    } finally {
      await client.close()
    }
  }
  return findings.length > 0 ? findings : [finding('page-allowed', identity)]
}

async function rangesFindings(
  { ranges, rangesUrl }: Identity,
  stranger: Stranger,
  { allowAddresses }: StrangerOptions,
): Promise<readonly Finding[]> {
  if (ranges.length === 0) return [finding('ranges-none', {})]
  const got = await stranger.get('ranges', rangesUrl, 'application/json')
  if ('result' in got) return [got]
  const file = jsonObject(got)
  if (file === undefined || !Array.isArray(file.prefixes))
    return [finding('ranges-not-json', { rangesUrl, note: pageNote(got.body) })]
  const guard = new NetworkGuard({ network: 'public-only', allowAddresses })
  const entries = (file.prefixes as readonly unknown[]).slice(0, 10_000)
  const published = entries.map((entry, i) => publishedRange(entry, { rangesUrl, entry: i + 1 }, guard))
  const wrong = published.filter((range): range is Finding => 'result' in range).slice(0, MAX_NAMED)
  const wanted = ranges.map(({ text }) => text)
  const there = published.map(({ text }) => text)
  const [missing, extra] = [without(wanted, there), without(there, wanted)]
  const differences = [
    ...(missing.length > 0 ? [`${someOf(missing)} is not in ${rangesUrl}`] : []),
    ...(extra.length > 0 ? [`${someOf(extra)} is only there`] : []),
  ].join('; ')
  const created = typeof file.creationTime === 'string' ? timeOf(file.creationTime) : Number.NaN
  const count = `${ranges.length} range${ranges.length > 1 ? 's' : ''}`
  const ofFile = findingsOf(
    { rangesUrl, differences, created: describeValue(file.creationTime), count },
    {
      'ranges-differ': wrong.length === 0 && differences !== '',
      'ranges-time': Number.isNaN(created) || created > stranger.now() + 60_000,
    },
    wrong.length === 0 ? 'ranges-ok' : undefined,
  )
  return [...wrong, ...ofFile]
}

/** Reads an entry of the published file: its range, or what is wrong with it. */
function publishedRange(
  entry: unknown,
  place: { readonly rangesUrl: string; readonly entry: number },
  guard: NetworkGuard,
): IpRange | Finding {
  const { ipv4Prefix, ipv6Prefix } = Object(entry) as Readonly<Record<string, unknown>>
  const text = ipv4Prefix ?? ipv6Prefix
  const range = typeof text === 'string' && text.includes('/') ? ipRange(text) : undefined
  if (range?.version !== (ipv4Prefix === undefined ? 6 : 4) || range.hasHostBits) {
    const hint = range?.hasHostBits ? `; its first address is ${range.text}` : ''
    return finding('ranges-invalid', { ...place, json: jsonText(entry), hint })
  }
  const isPublic = edgesOf(range).every((address) => guard.refusalOfHost(address) === undefined)
  return isPublic ? range : finding('ranges-private', { ...place, range: range.text })
}

function without(texts: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return [...new Set(texts)].filter((text) => !known.has(text))
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
  const got = await stranger.get('card', card, 'application/json')
  if ('result' in got) return [got]
  const found = jsonObject(got)
  if (found === undefined) return [finding('card-not-json', { card, note: pageNote(got.body) })]
  const expected = cardJson(identity)
  const differs = (of: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>, prefix: string) =>
    Object.keys(wanted)
      .filter((field) => field !== 'web_bot_auth' && !isDeepStrictEqual(of[field], wanted[field]))
      .map((field) => `${prefix}${field} is ${jsonText(of[field])}, not ${jsonText(wanted[field])}`)
  const [own, wantedOwn] = [found, expected].map(
    ({ web_bot_auth: of }) => Object(of) as Readonly<Record<string, unknown>>,
  )
  const wrong = [...differs(found, expected, ''), ...differs(own ?? {}, wantedOwn ?? {}, 'web_bot_auth.')]
  return findingsOf({ card, differences: wrong.join('; ') }, { 'card-differs': wrong.length > 0 }, 'card-ok')
}
