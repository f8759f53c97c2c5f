// What the library would say of a result, in one sentence, for the logs of clients. Options of the
// API are named as flags of `politely serve`.
import { type Access, describeOutcome, describeVerdict } from '@politely/core'
import { formatTime } from '@politely/core/internal'
import { type ClientVerdict, loggableVerdict } from '@politely/fetcher'
import { isPrivateHost } from '@politely/fetcher/internal'
import { durationRoundedUp } from '@politely/gate/internal'
import type { PermitResult, WaitBecause } from '../permits/permit-call.ts'
import type { ReportState } from '../permits/reports.ts'
import type { UsedUp } from '../tenants.ts'

/** A site may write a rule of half a megabyte. */
const MAX_MESSAGE_LENGTH = 1_000

const WAITS: Readonly<Record<WaitBecause | 'server-busy', string>> = {
  none: 'its slot',
  'own-delay': 'the delay between two requests (--min-delay)',
  'crawl-delay': "the site's Crawl-delay",
  'request-rate': "the site's Request-rate",
  'slow-site': 'a slow site',
  cap: 'the longest delay (--max-delay), since the site asks for more',
  'visit-time': "the site's Visit-time",
  'retry-after': "the site's Retry-After",
  backoff: 'the end of a pause, since the site has answered 429 or 503',
  'rate-limit': "the site's rate limit",
  'pacer-failure': 'the pacer of the server, which fails (--pacer)',
  concurrency: 'another request to end (--max-per-site, --max-requests)',
  circuit: 'the site to recover, since its last requests failed',
  'robots-txt': 'robots.txt, which is being fetched',
  queue: 'the tickets before it',
  draining: 'another server, since this one is stopping',
  'server-busy': 'the server, which is overloaded',
}

/** The quotas by their names in the token file. */
const QUOTAS: Readonly<Record<UsedUp, string>> = {
  permits: 'permits',
  rate: 'per-second',
  share: 'share',
  waiting: 'waiting',
  bytes: 'bytes-per-minute',
}

/** What the states of a report mean. */
export const REPORT_MESSAGES: Readonly<Record<ReportState | 'counted', string>> = {
  done: 'the report counts',
  counted: 'the report counts; its lease is over, or is kept by another server of this key',
  repeated: 'this permit has reported before, so this report changes nothing',
  gone: 'nothing counts: the lease is over, and there is no response to count, or it came too late',
  unknown: 'the permit is not yours, or of a server with another key (--key)',
}

/** What the states of a renewal mean. */
export const RENEWAL_MESSAGES: typeof REPORT_MESSAGES = {
  ...REPORT_MESSAGES,
  done: 'the lease is extended',
  gone: 'the lease is over, and cannot be extended',
}

/** Returns what a result says, in one sentence without the URL. */
export function permitMessage(result: Exclude<PermitResult, { readonly state: 'go' }>): string {
  switch (result.state) {
    case 'wait':
      return `waits for ${WAITS[result.because]}; ask again in ${againIn(result)}`
    case 'full':
      return `your quota ${QUOTAS[result.because]} is used up; ask again in ${againIn(result)}`
    case 'unknown':
      return 'the ticket is not yours, or of a server with another key (--key); ask again without it'
    case 'refused':
      return refusalText(result)
  }
}

function againIn({ waitMs, ticket }: { readonly waitMs: number; readonly ticket?: string | undefined }): string {
  return `${durationRoundedUp(waitMs)}${ticket === undefined ? '' : ' with the ticket'}`
}

function refusalText({ verdict, retryAt, budget, circuit }: Extract<PermitResult, { readonly state: 'refused' }>) {
  const { origin } = verdict
  if (budget !== undefined)
    return `does not start: the budget of ${origin} is used up (${budget} requests); make no further requests to it`
  if (circuit !== undefined)
    return `does not start: the last requests to ${origin} failed, and after the last ${describeOutcome(circuit)}; try again at ${formatTime(retryAt)}`
  const text = describeVerdict(shownVerdict(verdict))
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text
}

/** Returns a verdict without credentials, whose advice names flags of the server. */
export function shownVerdict(given: ClientVerdict): ClientVerdict {
  const verdict = loggableVerdict(given)
  if (verdict.because === 'invalid-url') return verdict
  const access = shownAccess(verdict.access)
  return access === verdict.access ? verdict : { ...verdict, access }
}

/** The advice of `BlockedAddressError`, for callers in code. */
const ADVICE = /write (?:allowAddresses: \[([^\]]*)\](?:, or network: 'any' if no host may be refused)?|network: 'any')/

/** Returns what is known of a robots.txt; its advice names flags of the server. */
export function shownAccess(access: Access): Access {
  const { detail, reason } = access
  if (detail === undefined || reason !== 'blocked-address') return access
  return { ...access, detail: withServerFlags(detail, access) }
}

/** Replaces options of the API by flags of the server, in a text about a robots.txt. */
export function withServerFlags(text: string, access: Access): string {
  return text.replace(ADVICE, (_, addresses = '') => flagsFor(access, addresses))
}

function flagsFor({ url, hops }: Access, addresses: string): string {
  const flags = Array.from(addresses.matchAll(/'([^']*)'/g), ([, address]) => `--allow-address ${address}`)
  // A public name must lead to a public address, even with --allow-private.
  const isPrivate = hops.length === 0 && isPrivateHost(URL.parse(url)?.hostname ?? '')
  const each = [flags.join(' '), ...(isPrivate || flags.length === 0 ? ['--allow-private'] : [])].filter(Boolean)
  return `start the server with ${each.join(', or with ')}`
}
