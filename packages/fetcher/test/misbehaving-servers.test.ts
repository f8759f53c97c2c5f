// @module-tag nodes
// Misbehaving servers, missing hosts and unsupported schemes make robots.txt unreachable, and are
// never thrown. RFC 9309 §2.3.1.4.
import { describeVerdict } from '@politely/core'
import { bodyCases } from '@politely/testkit/cases/body-cases'
import {
  type ConnectionCase,
  connectionCases,
  type MisbehavingServerCase,
  misbehavingServerCases,
} from '@politely/testkit/cases/misbehaving-server-cases'
import {
  checkedPage,
  conditionalCases,
  disallowsPage,
  type ExpectedAccess,
  replyCases,
} from '@politely/testkit/cases/response-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { withHeldTimer } from '@politely/testkit/held-timer'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startRawServer } from '@politely/testkit/servers/raw-server'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import { Agent } from 'undici'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

/** The part of the verdict that a case defines. */
function verdictOf({ expected: { allowed, because, ...access } }: MisbehavingServerCase | ConnectionCase): object {
  return { allowed, because, access: { ...access, hops: [] } }
}

const ROBOTS = 'http://a.test:PORT/robots.txt'

// A fetch that waits for its deadline although its case does not require it exceeds the time limit
// of the test.
test.concurrent.for(misbehavingServerCases.map((row) => [row.name, row] as const))(
  '%s',
  async ([, row], { sites, newClient }) => {
    sites.respond(ROBOTS, row.behave)
    const check = (timeoutMs: number) => newClient({ timeoutMs }).check(sites.withPort(checkedPage))
    const verdict = await withHeldTimer(check, row.lastsUntilDeadline ? () => sites.requested(1) : undefined)

    expect(verdict).toMatchObject(verdictOf(row))
    expect(sites.requestedUrls).toEqual([ROBOTS])
  },
)

test.concurrent.for(connectionCases.map((row) => [row.name, row] as const))(
  '%s',
  async ([, row], { newClient, onTestFinished }) => {
    const server = await startRawServer(row.accept)
    onTestFinished(() => server.close())
    const url = `${row.scheme}://a.test:${server.port}/page`
    const check = (timeoutMs: number) => newClient({ timeoutMs }).check(url)
    const verdict = await withHeldTimer(check, row.lastsUntilDeadline ? () => server.connected : undefined)

    expect(verdict).toMatchObject(verdictOf(row))
  },
)

test('RFC 9309 §2.3.1.2, a redirect whose body stalls is followed', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, (socket) => {
    socket.write('HTTP/1.1 302 Found\r\nLocation: /rules\r\nContent-Length: 100\r\n\r\nMoved')
  })
  sites.respond('http://a.test:PORT/rules', { status: 200, body: disallowsPage })

  const verdict = await newClient({ timeoutMs: 60_000 }).check(sites.withPort(checkedPage))

  expect(sites.requestedUrls).toEqual([ROBOTS, 'http://a.test:PORT/rules'])
  expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { outcome: 'success' } })
})

test('our choice, one deadline covers all redirects together, none of which takes that long', async ({
  sites,
  newClient,
}) => {
  const hops = Array.from({ length: 40 }, (_, i) => `http://a.test:PORT/hop${i}`)
  for (const [i, hop] of [ROBOTS, ...hops].entries()) {
    const answer = `HTTP/1.1 302 Found\r\nLocation: /hop${i}\r\nContent-Length: 0\r\n\r\n`
    sites.respond(hop, (socket) => void setTimeout(() => socket.end(answer), 50))
  }

  const check = (timeoutMs: number) => newClient({ timeoutMs, maxRedirects: 50 }).check(sites.withPort(checkedPage))
  const verdict = await withHeldTimer(check, () => sites.requested(3))

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'timeout' } })
  expect(sites.requestedUrls.length).toBeLessThan(40)
})

test('our choice, the deadline also covers the time to connect', async ({ newClient, onTestFinished }) => {
  // The lookup of this name would last longer than the test.
  const dispatcher = new Agent({ connect: { timeout: 60_000, lookup: () => undefined } })
  onTestFinished(() => dispatcher.destroy())

  const verdict = await newClient({ dispatcher, timeoutMs: 100 }).check('http://a.test/page')

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'timeout' } })
  expect(describeVerdict(verdict)).toContain('(timeout: the deadline of 100 ms (timeoutMs) passed)')
})

test('RFC 9309 §2.3.1.4, a port that refuses connections', async ({ newClient, onTestFinished }) => {
  const refusing = await holdRefusingPort()
  onTestFinished(() => refusing.close())

  const verdict = await newClient().check(`http://a.test:${refusing.port}/page`)

  expect(verdict).toMatchObject({
    allowed: false,
    because: 'unreachable',
    access: { outcome: 'unreachable', reason: 'refused', url: `http://a.test:${refusing.port}/robots.txt` },
  })
})

test('our choice, several addresses that all refuse connections', async ({ newClient, onTestFinished }) => {
  const refusing = await holdRefusingPort()
  onTestFinished(() => refusing.close())
  const lookup = lookupIn({ 'two.test': ['127.0.0.1', '::1'] })

  const verdict = await newClient({ lookup }).check(`http://two.test:${refusing.port}/page`)

  expect(verdict).toMatchObject({
    access: { outcome: 'unreachable', reason: 'refused', detail: expect.stringMatching(/./) },
  })
})

test.for([
  ['ENOTFOUND', 'dns'],
  ['ENODATA', 'dns'],
  ['EAI_AGAIN', 'dns-unavailable'],
  ['EAI_FAIL', 'dns-unavailable'],
] as const)('RFC 9309 §2.3.1.4, the name is not found: %s is %s', async ([code, reason], { sites, newClient }) => {
  const lookup = lookupIn({ 'away.test': code })

  const verdict = await newClient({ lookup }).check(sites.withPort('http://away.test:PORT/page'))

  expect(verdict).toMatchObject({ allowed: false, because: 'unreachable', access: { outcome: 'unreachable', reason } })
  expect(sites.connections).toEqual([])
})

test('RFC 9309 §2.3.1.4, a redirect to a name without an address', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 301, headers: { location: 'http://gone.invalid/robots.txt' } })

  const verdict = await newClient().check(sites.withPort(checkedPage))

  expect(verdict).toMatchObject({
    because: 'unreachable',
    access: {
      reason: 'dns',
      url: 'http://gone.invalid/robots.txt',
      hops: [{ url: sites.withPort(ROBOTS), status: 301 }],
    },
  })
})

test('RFC 9309 §2.3.1.4, https to a server without TLS', async ({ sites, newClient }) => {
  const verdict = await newClient().check(sites.withPort('https://a.test:PORT/page'))

  const detail = 'wrong version number' // without the file names of OpenSSL
  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'tls', detail } })
  expect(sites.requests).toEqual([])
})

test('our choice, http to a server that supports only TLS', async ({ newClient, onTestFinished }) => {
  const sites = await startSites({ certificate: selfSigned('a.test') })
  onTestFinished(() => sites.close())

  const verdict = await newClient().check(sites.withPort(checkedPage))

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'reset' } })
})

test('our choice, an expired certificate', async ({ newClient, onTestFinished }) => {
  const certificate = selfSigned('a.test', '20200101000000Z')
  const sites = await startSites({ certificate })
  onTestFinished(() => sites.close())
  const dispatcher = new Agent({ connect: { lookup: lookupIn(), ca: certificate.cert } })
  onTestFinished(() => dispatcher.destroy())

  const verdict = await newClient({ dispatcher }).check(sites.withPort('https://a.test:PORT/page'))

  expect(verdict).toMatchObject({ access: { outcome: 'unreachable', reason: 'tls' } })
})

test('RFC 9309 §2.3.1.2, a redirect from https to http is followed, and its rules apply to the original origin', async ({
  sites,
  newClient,
  onTestFinished,
}) => {
  const certificate = selfSigned('a.test')
  const safe = await startSites({ certificate })
  onTestFinished(() => safe.close())
  const dispatcher = new Agent({ connect: { lookup: lookupIn(), ca: certificate.cert } })
  onTestFinished(() => dispatcher.destroy())
  const location = sites.withPort(ROBOTS)
  safe.respond('https://a.test:PORT/robots.txt', { status: 301, headers: { location } })
  sites.respond(ROBOTS, { status: 200, body: disallowsPage })

  const verdict = await newClient({ dispatcher }).check(safe.withPort('https://a.test:PORT/page'))

  expect(verdict).toMatchObject({
    because: 'rule',
    origin: safe.withPort('https://a.test:PORT'),
    access: { outcome: 'success', url: location, hops: [{ status: 301 }] },
  })
})

test('RFC 9112 §9.3, a response that is sent before the next request does not count as its response', async ({
  sites,
  newClient,
}) => {
  const moved = 'HTTP/1.1 302 Found\r\nLocation: /rules\r\nContent-Length: 0\r\n\r\n'
  sites.respond(ROBOTS, (socket) => void socket.write(`${moved}HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n`))
  sites.respond('http://a.test:PORT/rules', { status: 200, body: disallowsPage })

  const verdict = await newClient().check(sites.withPort(checkedPage))

  expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { outcome: 'success', status: 200 } })
  expect(sites.connections).toHaveLength(2)
})

test('RFC 9112 §9.3.1, the failure of a kept-alive connection is temporary, and the request is repeated', async ({
  sites,
  newClient,
}) => {
  const rules = 'http://a.test:PORT/rules'
  sites.respond(ROBOTS, { status: 302, headers: { location: '/rules' } })
  sites.respond(rules, (socket) => socket.resetAndDestroy(), { status: 200, body: disallowsPage })

  const verdict = await newClient({ retries: 1 }).check(sites.withPort(checkedPage))

  expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { outcome: 'success' } })
  expect(sites.requestedUrls).toEqual([ROBOTS, rules, rules])
})

test.for([
  ['our choice, an untrusted certificate', 'a.test', 'a.test', 'distrust', 'unreachable'],
  ['our choice, a certificate for another host', 'a.test', 'b.test', 'trust', 'unreachable'],
  ["our choice, a certificate that the caller's dispatcher trusts", 'a.test', 'a.test', 'trust', 'success'],
] as const)('%s', async ([, named, host, trust, outcome], { newClient, onTestFinished }) => {
  const certificate = selfSigned(named)
  const sites = await startSites({ certificate })
  onTestFinished(() => sites.close())
  sites.respond(`https://${host}:PORT/robots.txt`, { status: 200, body: disallowsPage })
  const dispatcher = new Agent({ connect: { lookup: lookupIn(), ...(trust === 'trust' && { ca: certificate.cert }) } })
  onTestFinished(() => dispatcher.destroy())

  const verdict = await newClient({ dispatcher }).check(sites.withPort(`https://${host}:PORT/page`))

  expect(verdict).toMatchObject({ access: outcome === 'success' ? { outcome } : { outcome, reason: 'tls' } })
  expect(sites.requests).toHaveLength(outcome === 'success' ? 1 : 0)
})

test("our choice, the client's own connections reject untrusted certificates too", async ({
  newClient,
  onTestFinished,
}) => {
  const sites = await startSites({ certificate: selfSigned('a.test') })
  onTestFinished(() => sites.close())

  const verdict = await newClient().check(sites.withPort('https://a.test:PORT/page'))

  expect(verdict).toMatchObject({ access: { outcome: 'unreachable', reason: 'tls' } })
  expect(sites.requests).toEqual([])
})

test('docs/reference/misbehaving-servers.md contains these cases', { tags: 'page' }, async () => {
  const tables = [
    { head: ['the server', 'source', 'result'], rows: tableRows([...connectionCases, ...misbehavingServerCases]) },
    { head: ['the response', 'source', 'result'], rows: tableRows([...replyCases, ...conditionalCases]) },
    { head: ['the body', 'source', 'result'], rows: tableRows(bodyCases) },
  ]
  await expectTables('docs/reference/misbehaving-servers.md', ...tables)
})

/** Converts cases to table rows. Cases that differ only in the text after a colon share a row. */
function tableRows(rows: readonly { readonly name: string; readonly expected: ExpectedAccess }[]): string[][] {
  const cases = new Map<string, { readonly cells: readonly [string, string, string]; readonly variants: string[] }>()
  for (const { name, expected } of rows) {
    const [, source = '', what = '', variant] = /^(.*?), (.*?)(?:: (.*))?$/.exec(name) ?? []
    const cells = [what, source, resultOf(expected)] as const
    const known = cases.get(cells.join()) ?? { cells, variants: [] }
    cases.set(cells.join(), known)
    if (variant !== undefined) known.variants.push(variant)
  }
  return [...cases.values()].map(({ cells: [what, source, follows], variants }) => {
    const all = variants.length === 0 ? what : `${what}: ${variants.join(', ')}`
    return [all.replaceAll(/[*_<&]/g, '\\$&'), source, follows]
  })
}

function resultOf({
  because,
  outcome,
  reason,
  truncated,
}: ExpectedAccess & { readonly truncated?: boolean | undefined }): string {
  if (outcome !== 'success') return reason === 'status' ? `${outcome}, by its status` : `${outcome}, \`${reason}\``
  const rules = because === 'rule' ? 'its rules apply' : 'no rule matches the page'
  return `success, ${truncated ? 'cut at the size limit: ' : ''}${rules}`
}
