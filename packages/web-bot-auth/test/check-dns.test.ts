import { expect, test } from 'vitest'
import { dnsFindings } from '../src/operator/check-dns.ts'
import { type DnsResolver, parseIdentity } from '../src/operator/index.ts'

const identity = parseIdentity(
  JSON.stringify({
    name: 'A',
    productToken: 'A',
    page: 'https://a.test/b',
    contact: 'a@a.test',
    purposes: ['x'],
    ranges: Array.from({ length: 10 }, (_, n) => `192.0.${n}.0/24`),
  }),
)

/** Returns a resolver that never answers for some addresses, and what it was asked. */
function silentFor(isSilent: (name: string) => boolean): { readonly resolver: DnsResolver; readonly asked: string[] } {
  const asked: string[] = []
  const resolvePtr = (name: string) => {
    asked.push(name)
    return isSilent(name) ? new Promise<never>(() => undefined) : Promise.resolve([])
  }
  const never = () => Promise.reject(new Error('no PTR record leads here'))
  return { resolver: { resolvePtr, resolve4: never, resolve6: never }, asked }
}

test('a silent DNS server is asked for eight addresses only', async () => {
  const { resolver, asked } = silentFor(() => true)
  const [finding, ...others] = await dnsFindings(identity, 20, resolver)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ code: 'dns-failed', result: 'warn' })
  expect(finding?.text).toMatch(
    /no answer: 56 addresses, which were not looked up; the PTR record of 192\.0\.0\.\d+ \(ETIMEOUT\)/,
  )
  expect(asked).toHaveLength(8)
})

test('a DNS server that answers now and then does not hold the check up', async () => {
  const { resolver, asked } = silentFor((name) => !name.startsWith('1.'))
  const findings = await dnsFindings(identity, 20, resolver)
  expect(findings.map(({ code }) => code)).toEqual(['dns-without-ptr', 'dns-failed'])
  expect(asked.length).toBeLessThan(64)
})

test('a DNS server that answers is asked for each address', async () => {
  const { resolver, asked } = silentFor(() => false)
  expect((await dnsFindings(identity, 5_000, resolver)).map(({ code }) => code)).toEqual(['dns-without-ptr'])
  expect(asked).toHaveLength(64)
})
