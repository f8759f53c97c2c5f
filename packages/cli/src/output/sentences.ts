// Sentences of the command about verdicts and responses.
import { type Access, describeReason, type PageOutcome, type Verdict } from '@politely/core'
import { failuresThatAre } from '@politely/core/engine'
import { type Describable, escapeControls, withoutCredentials } from '@politely/core/internal'
import type { WaitTooLongError } from '@politely/gate'
import { printable } from './style.ts'

/** What to write in code, as errors of the API say it, and the flags of the command that do it. */
const FLAGS: readonly (readonly [code: RegExp, flags: string | ((...groups: string[]) => string)])[] = [
  [
    /allowAddresses: \[([^\]]*)\](?:, or network: 'any' if no host may be refused)?/g,
    (_, addresses = '') => [...addresses.matchAll(/'([^']*)'/g)].map(([, each]) => `--allow-address ${each}`).join(' '),
  ],
  [/(?:start Node with NODE_USE_ENV_PROXY=1, or )?write dispatcher: new EnvHttpProxyAgent\(\)/g, 'write --proxy URL'],
  [/\(timeoutMs\)/g, '(--timeout)'],
]

/** Describes the reason of a verdict for users of the command. */
export function reasonText(verdict: Describable): string {
  return withFlags(describeReason(verdict))
}

/** Replaces options of the API in a message by flags of the command. */
export function withFlags(message: string): string {
  return FLAGS.reduce((text, [code, flags]) => text.replace(code, flags as string), message)
}

/** Returns which of the product tokens led to a group: `, by the group for Googlebot (line 3)`. */
export function groupNote(verdict: Verdict, productTokens: readonly string[]): string {
  if (verdict.because !== 'rule' && verdict.because !== 'no-rule-matched') return ''
  const { agents, line } = verdict.group
  const names = agents.map((agent) => /^[\w-]*/.exec(agent.toLowerCase())?.[0])
  const token = productTokens.find((each) => names.includes(each.toLowerCase())) ?? '*'
  return `, by the group for ${token} (line ${line})`
}

/**
 * Returns the kind of an outcome, and what the site asks for: `payment-required (USD 0.01)`. Returns
 * undefined for a page or a redirect.
 */
export function outcomeText({ kind, price }: PageOutcome): string | undefined {
  if (kind === 'served' || kind === 'redirect') return undefined
  return price?.amount === undefined ? kind : `${kind} (${printable(`${price.currency} ${price.amount}`)})`
}

/** Describes a refusal because of `--max-wait` for users of the command. */
export function waitProblem({ message, verdict }: WaitTooLongError): string {
  return message
    .replace(`${escapeControls(verdict.url)} `, 'the request ')
    .replaceAll('raise maxWaitMs', 'raise --max-wait')
    .replace(/maxWaitMs is (\d+)/, (_, ms) => `--max-wait is ${ms / 1000}`)
}

const SERVE_IT = 'the site should send the file with status 200, or status 404 if it has none'
const ELSEWHERE = 'compare with another client, such as curl -v; a proxy or a firewall on the way may be the cause'

/** By the reason of an attempt. A reason without a row needs no advice, or its description has it. */
const BY_REASON: Readonly<Partial<Record<Access['reason'], string>>> = {
  dns: 'check the name of the host; a new name may need time until every resolver knows it',
  'dns-unavailable': 'try again; the resolver of this machine did not answer',
  refused: 'check the port, and that the server runs',
  reset: ELSEWHERE,
  network: ELSEWHERE,
  tls: 'the site should have a certificate of a known authority, and send all intermediate certificates',
  timeout: 'try again, or allow more time with --timeout',
  malformed: ELSEWHERE,
  undecodable: 'the site should send the file without Content-Encoding, or with one that fits its bytes',
  truncated: 'the site should send a Content-Length that fits the file; a cache may have kept a part of it',
  'too-large': 'the site should send fewer headers and a shorter file',
  'blocked-address': 'if the address is not yours, the site should repair its redirect or its DNS',
  'too-many-redirects': `${SERVE_IT}; crawlers follow five redirects`,
  'redirect-loop': SERVE_IT,
  'no-usable-location': SERVE_IT,
}

const BY_PROXY = failuresThatAre('by-proxy')

/** Returns at most one sentence. @param proxy The value of `--proxy`. */
export function adviceOn(access: Access | undefined, proxy?: string): readonly string[] {
  if (access === undefined) return []
  if (proxy !== undefined && BY_PROXY.has(access.reason)) return [adviceOnProxy(access, withoutCredentials(proxy))]
  const { outcome, reason, status, looksLike, copy } = access
  if (looksLike !== undefined) return [adviceOnForeign(looksLike, access.hops.length > 0)]
  if (copy?.truncated)
    return ['the site should shorten the file: crawlers need not read more than 500 KiB (RFC 9309 §2.5)']
  if (reason !== 'status') return [BY_REASON[reason]].filter((text) => text !== undefined)
  if (outcome === 'unreachable') return [status === 429 ? `${SERVE_IT}, also to crawlers that ask often` : SERVE_IT]
  const isRefused = outcome === 'unavailable' && status !== 404 && status !== 410
  return isRefused ? [`${SERVE_IT}; a refusal does not keep crawlers out`] : []
}

/** @param isRedirected The response came after a redirect. */
function adviceOnForeign(looksLike: NonNullable<Access['looksLike']>, isRedirected: boolean): string {
  switch (looksLike) {
    case 'challenge':
      return 'the site should send /robots.txt without the challenge, which crawlers cannot solve'
    case 'utf-16':
      return 'the site should send the file as UTF-8'
    case 'gzip':
      return 'the site should send the file uncompressed, or with Content-Encoding: gzip'
    case 'html':
      return isRedirected
        ? `${SERVE_IT}, and without a login`
        : `${SERVE_IT}; a single-page app should not send its page for /robots.txt`
    default:
      return SERVE_IT
  }
}

function adviceOnProxy({ detail = '' }: Access, proxy: string): string {
  return detail.includes('407')
    ? `write the user name and password for ${proxy} into --proxy, such as http://user:password@localhost:8080`
    : `check that the proxy ${proxy} runs, and that it lets this request through`
}
