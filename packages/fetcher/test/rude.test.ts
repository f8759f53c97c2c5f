// Servers that misbehave, hosts that are not there, and schemes that nobody speaks: unreachable, and never thrown.
// RFC 9309 §2.3.1.4.
import {
  askedPage,
  type DoorRow,
  doorRows,
  forbidsPage,
  holdRefusingPort,
  lookupIn,
  type RudeRow,
  rudeRows,
  selfSigned,
  startRawServer,
  startSites,
} from '@politely/testkit'
import { Agent } from 'undici'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

/** As much of the verdict as a row tells. */
function verdictOf({ expected: { allowed, because, ...access } }: RudeRow | DoorRow): object {
  return { allowed, because, access: { ...access, hops: [] } }
}

const ROBOTS = 'http://a.test:PORT/robots.txt'

// Side by side, since some of them wait for the deadline.
test.concurrent.for(rudeRows.map((row) => [row.name, row] as const))('%s', async ([, row], { sites, newClient }) => {
  sites.answer(ROBOTS, row.behave)
  // Who waits for the deadline without need outlasts the test.
  const client = newClient({ timeoutMs: row.lastsUntilDeadline ? 500 : 60_000 })

  const verdict = await client.check(sites.withPort(askedPage))

  expect(verdict).toMatchObject(verdictOf(row))
  expect(sites.asked).toEqual([ROBOTS])
})

test.concurrent.for(doorRows.map((row) => [row.name, row] as const))(
  '%s',
  async ([, row], { newClient, onTestFinished }) => {
    const server = await startRawServer(row.accept)
    onTestFinished(() => server.close())
    const client = newClient({ timeoutMs: row.lastsUntilDeadline ? 500 : 60_000 })

    const verdict = await client.check(`${row.scheme}://a.test:${server.port}/page`)

    expect(verdict).toMatchObject(verdictOf(row))
  },
)

test('RFC 9309 §2.3.1.2, a redirect whose body stalls is followed', async ({ sites, newClient }) => {
  sites.answer(ROBOTS, (socket) => {
    socket.write('HTTP/1.1 302 Found\r\nLocation: /rules\r\nContent-Length: 100\r\n\r\nMoved')
  })
  sites.answer('http://a.test:PORT/rules', { status: 200, body: forbidsPage })

  const verdict = await newClient({ timeoutMs: 500 }).check(sites.withPort(askedPage))

  expect(sites.asked).toEqual([ROBOTS, 'http://a.test:PORT/rules'])
  expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { outcome: 'success' } })
})

test('our choice, one deadline for all redirects together: none of them takes so long', async ({
  sites,
  newClient,
}) => {
  const hops = Array.from({ length: 40 }, (_, i) => `http://a.test:PORT/hop${i}`)
  for (const [i, hop] of [ROBOTS, ...hops].entries()) {
    const answer = `HTTP/1.1 302 Found\r\nLocation: /hop${i}\r\nContent-Length: 0\r\n\r\n`
    sites.answer(hop, (socket) => void setTimeout(() => socket.end(answer), 50))
  }

  const verdict = await newClient({ timeoutMs: 500, maxRedirects: 50 }).check(sites.withPort(askedPage))

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'timeout' } })
  expect(sites.asked.length).toBeLessThan(40)
})

test('RFC 9309 §2.3.1.4, a port that refuses', async ({ newClient, onTestFinished }) => {
  const refusing = await holdRefusingPort()
  onTestFinished(() => refusing.close())

  const verdict = await newClient().check(`http://a.test:${refusing.port}/page`)

  expect(verdict).toMatchObject({
    allowed: false,
    because: 'unreachable',
    access: { outcome: 'unreachable', reason: 'refused', url: `http://a.test:${refusing.port}/robots.txt` },
  })
})

test('our choice, several addresses that all refuse are one refusal', async ({ newClient, onTestFinished }) => {
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

test('RFC 9309 §2.3.1.4, a redirect to a name that is not found', async ({ sites, newClient }) => {
  sites.answer(ROBOTS, { status: 301, headers: { location: 'http://gone.invalid/robots.txt' } })

  const verdict = await newClient().check(sites.withPort(askedPage))

  expect(verdict).toMatchObject({
    because: 'unreachable',
    access: {
      reason: 'dns',
      url: 'http://gone.invalid/robots.txt',
      hops: [{ url: sites.withPort(ROBOTS), status: 301 }],
    },
  })
})

test('RFC 9309 §2.3, ftp is a scheme with a robots.txt, which is not spoken yet', async ({ sites, newClient }) => {
  sites.answer(ROBOTS, { status: 301, headers: { location: 'ftp://a.test/robots.txt' } })
  const client = newClient()
  const missing = { allowed: false, because: 'unreachable', access: { outcome: 'unreachable', reason: 'no-transport' } }

  expect(await client.check('ftp://a.test/page')).toMatchObject(missing)
  expect(await client.check(sites.withPort(askedPage))).toMatchObject(missing)
  expect(sites.asked).toEqual([ROBOTS])
})

test('RFC 9309 §2.3.1.4, https of a server that does not speak TLS', async ({ sites, newClient }) => {
  const verdict = await newClient().check(sites.withPort('https://a.test:PORT/page'))

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'tls' } })
  expect(sites.requests).toEqual([])
})

test('our choice, http of a server that speaks TLS only', async ({ newClient, onTestFinished }) => {
  const sites = await startSites({ certificate: selfSigned('a.test') })
  onTestFinished(() => sites.close())

  const verdict = await newClient().check(sites.withPort(askedPage))

  expect(verdict).toMatchObject({ because: 'unreachable', access: { outcome: 'unreachable', reason: 'reset' } })
})

test.for([
  ['our choice, a certificate that nobody trusts', 'a.test', 'a.test', 'distrust', 'unreachable'],
  ['our choice, a certificate of another host', 'a.test', 'b.test', 'trust', 'unreachable'],
  ['our choice, a certificate that your own dispatcher trusts', 'a.test', 'a.test', 'trust', 'success'],
] as const)('%s', async ([, named, host, trust, outcome], { newClient, onTestFinished }) => {
  const certificate = selfSigned(named)
  const sites = await startSites({ certificate })
  onTestFinished(() => sites.close())
  sites.answer(`https://${host}:PORT/robots.txt`, { status: 200, body: forbidsPage })
  const dispatcher = new Agent({ connect: { lookup: lookupIn(), ...(trust === 'trust' && { ca: certificate.cert }) } })
  onTestFinished(() => dispatcher.destroy())

  const verdict = await newClient({ dispatcher }).check(sites.withPort(`https://${host}:PORT/page`))

  expect(verdict).toMatchObject({ access: outcome === 'success' ? { outcome } : { outcome, reason: 'tls' } })
  expect(sites.requests).toHaveLength(outcome === 'success' ? 1 : 0)
})

test('our choice, the connector of the client itself trusts no such certificate either', async ({
  newClient,
  onTestFinished,
}) => {
  const sites = await startSites({ certificate: selfSigned('a.test') })
  onTestFinished(() => sites.close())

  const verdict = await newClient().check(sites.withPort('https://a.test:PORT/page'))

  expect(verdict).toMatchObject({ access: { outcome: 'unreachable', reason: 'tls' } })
  expect(sites.requests).toEqual([])
})
