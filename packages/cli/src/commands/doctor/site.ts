// The checks of the way to a site: DNS and the network guard, the connection, the clock, robots.txt.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { NetworkGuard, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import type { Arguments } from '../../command-line.ts'
import { allowedAddresses } from '../../input/client.ts'
import { requestFailure } from '../../input/failure.ts'
import { type Fetch, withClientAndFetch } from '../../input/pages.ts'
import { type Finding, fail, ok, warn } from '../../output/findings.ts'
import { adviceOn, reasonText } from '../../output/sentences.ts'
import { durationText, shorten } from '../../output/style.ts'
import { usesProxyVariable } from './machine.ts'

/** A larger difference changes for how long a response is fresh. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

const REMEDIES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the spelling of the host, and the DNS of this machine',
  EAI_AGAIN: 'the DNS server does not respond; check the network of this machine',
  ECONNREFUSED: 'no server listens there; check the host and the port',
  ECONNRESET: 'the server or a firewall closed the connection; try again, or ask the site',
  ETIMEDOUT: 'a firewall may drop the packets; check whether a proxy is needed',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall may drop the packets; check whether a proxy is needed',
  UND_ERR_HEADERS_TIMEOUT: 'the server accepts connections and does not respond; raise --timeout',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'to trust the certificate, set NODE_EXTRA_CA_CERTS=FILE',
  SELF_SIGNED_CERT_IN_CHAIN: 'a proxy may replace certificates; to trust its CA, set NODE_EXTRA_CA_CERTS=FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send its whole chain; the site has to repair it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'to trust the CA, set NODE_EXTRA_CA_CERTS=FILE',
  CERT_HAS_EXPIRED: 'the site has to renew its certificate; check the clock of this machine, too',
  CERT_NOT_YET_VALID: 'check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host; check the host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS on this port; write http://',
}

/** @param crawler What was found about the names of the crawler. */
export async function* checkSite(args: Arguments, url: string, crawler: Finding): AsyncGenerator<Finding> {
  const { origin, hostname } = new URL(url)
  if (args.get('proxy') === undefined && !usesProxyVariable(url)) {
    const address = await checkAddress(args, url, hostname.replace(/^\[|\]$/g, ''))
    yield address
    if (address.result === 'fail') return
  }
  // Without a valid name of the crawler, the doctor uses its own.
  const isNamed = crawler.result !== 'fail' && args.get('user-agent') !== undefined
  const name = isNamed ? {} : { userAgent: 'politely-doctor/1.0', productToken: 'politely-doctor' }
  yield* await withClientAndFetch(
    args,
    async (client, fetch) => {
      const connection = await checkConnection(origin, client, fetch)
      if (connection.some(({ result }) => result === 'fail')) return connection
      return [...connection, await checkRobots(url, client, args.get('proxy'))]
    },
    name,
  )
}

async function checkAddress(args: Arguments, url: string, host: string): Promise<Finding> {
  let addresses: readonly string[]
  try {
    addresses = isIP(host) !== 0 ? [host] : (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return fail('DNS', `${host} has no address (${code}); ${REMEDIES[code] ?? REMEDIES.ENOTFOUND}`)
  }
  const guard = new NetworkGuard({ allowAddresses: allowedAddresses(args) })
  const blocked = addresses.filter((address) => guard.refusalOfHost(address) !== undefined)
  const found = `${host} → ${addresses.join(', ')}`
  if (blocked.length === 0) return ok('DNS', found)
  // A caller may name a private host itself. Then only redirects from other sites are refused.
  if (guard.reachOf([url]) === 'any')
    return ok(
      'DNS',
      `${found}: private; redirects from public sites to it are refused, unless you write --allow-address ${blocked[0]}`,
    )
  const remedy = `write ${blocked.map((address) => `--allow-address ${address}`).join(' ')}`
  const text = `${found}: ${blocked.join(', ')} is private, and a public name must not lead there; if you trust it, ${remedy}`
  return blocked.length === addresses.length ? fail('DNS', text) : warn('DNS', text)
}

/** Requests robots.txt once, and looks at the response. */
async function checkConnection(origin: string, client: RobotsClient, fetch: Fetch): Promise<readonly Finding[]> {
  const startedAt = Date.now()
  let response: Response
  try {
    response = await fetch(`${origin}/robots.txt`, {
      redirect: 'manual',
      headers: { 'user-agent': client.userAgent },
    })
    await response.body?.cancel()
  } catch (error) {
    const failure = requestFailure(error)
    if (failure === undefined) throw error
    const { text, code = '' } = failure
    const isTls = /CERT|SSL|TLS|SIGNATURE/.test(code)
    return [
      fail(isTls ? 'TLS' : 'connection', `${text}; ${REMEDIES[code] ?? 'check the host, the port and the network'}`),
    ]
  }
  const now = Date.now()
  return [
    ok('connection', `${origin}/robots.txt responds with ${response.status} after ${durationText(now - startedAt)}`),
    checkClock(response.headers.get('date'), startedAt, now),
  ]
}

/** Compares the clock of this machine with the Date of a response. */
export function checkClock(date: string | null, startedAt: number, now: number): Finding {
  const at = Date.parse(date ?? '')
  if (Number.isNaN(at)) return ok('clock', 'the response has no Date, so the clock was not compared')
  // Date has whole seconds.
  const behindMs = at - now
  const aheadMs = startedAt - (at + 1000)
  const offMs = Math.max(behindMs, aheadMs, 0)
  if (offMs <= MAX_CLOCK_DIFFERENCE_MS) return ok('clock', 'agrees with the Date of the response')
  return warn(
    'clock',
    `this machine is ${durationText(offMs)} ${behindMs > 0 ? 'behind' : 'ahead of'} the server, so responses count as fresh for the wrong time; set the clock (NTP), unless the clock of the server is wrong`,
  )
}

async function checkRobots(url: string, client: RobotsClient, proxy: string | undefined): Promise<Finding> {
  const verdict = await client.check(url)
  const advice = adviceOn(verdict.access, proxy)
  const text = `${shorten(withoutCredentials(url))} is ${verdict.allowed ? 'allowed' : 'disallowed'} for ${client.productTokens.join(', ')}: ${[shorten(reasonText(verdict)), ...advice].join('; ')}`
  if (verdict.because === 'unreachable') return fail('robots.txt', text)
  return verdict.allowed && advice.length === 0 ? ok('robots.txt', text) : warn('robots.txt', text)
}
