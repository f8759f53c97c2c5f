// The sealed texts of permits and tickets: what they hold, and which servers read them.
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Seal, type Sealed } from '../src/permits/seal.ts'

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const seal = new Seal([OLD])

const permit = (more: Partial<Sealed> = {}): Sealed => ({
  server: 'vJ3k-Q2c9d_z',
  number: 51,
  grantedAt: 1_764_000_000_000,
  endsAt: 1_764_000_060_000,
  key: 'https://example.com',
  ticket: '1764000000000123~42.5+',
  probe: undefined,
  origin: 'https://example.com',
  ...more,
})

test.each([
  ['of an origin', permit()],
  ['of a domain, with the ticket of a probe', permit({ key: 'example.com', ticket: 7, probe: 3 })],
  ['with a key in any language', permit({ key: 'key:sítě/例え.テスト/😀' })],
])('a permit %s holds what a report needs', (_, sealed) => {
  const opened = seal.open('someone', 'p', seal.seal('someone', 'p', sealed))
  expect(opened).toEqual({ ...sealed, id: expect.any(String) })
})

test.each(['x', '漢', '😀', '\0', '"'])('the longest key of %j fits, at least without its origin', (letter) => {
  const key = `key:${letter.repeat(500 / letter.length)}`
  const sealed = permit({ key, origin: `https://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example:65535` })
  const text = seal.seal('someone', 'p', sealed)
  expect(text.length).toBeLessThanOrEqual(2_500)
  expect(seal.open('someone', 'p', text)).toMatchObject({ number: 51, key, ticket: sealed.ticket })
})

test('a ticket has its place only', () => {
  const { ticket: _, origin: __, ...place } = permit()
  const text = seal.seal('someone', 't', place)
  expect(seal.open('someone', 't', text)).toMatchObject({ server: 'vJ3k-Q2c9d_z', number: 51, ticket: undefined })
  expect([seal.open('someone', 'p', text), seal.open('other', 't', text)]).toEqual([undefined, undefined])
})

test('a permit of the version before is read', () => {
  const head = `p.1f.${(1_764_000_060_000).toString(36)}.${Buffer.from('https://example.com').toString('base64url')}`
  const signature = createHmac('sha256', OLD).update(`someone\0${head}`).digest().subarray(0, 16).toString('base64url')
  expect(seal.open('someone', 'p', `${head}.${signature}`)).toEqual({
    server: '',
    number: 51,
    key: 'https://example.com',
    grantedAt: 1_764_000_060_000,
    endsAt: 1_764_000_060_000,
    id: expect.any(String),
  })
})

test('of several keys, the first signs and all are read', () => {
  const both = new Seal([NEW, OLD])
  const before = seal.seal('someone', 'p', permit())
  const after = both.seal('someone', 'p', permit())
  expect(both.open('someone', 'p', before)?.number).toBe(51)
  expect(new Seal([NEW]).open('someone', 'p', after)?.number).toBe(51)
  expect([seal.open('someone', 'p', after), new Seal([NEW]).open('someone', 'p', before)]).toEqual([
    undefined,
    undefined,
  ])
})

test('two texts never have the same id, whatever the spelling of the signature', () => {
  const text = seal.seal('someone', 'p', permit())
  // The last letter of a signature has four bits to spare.
  const respelled = [...'AQgwBRhxCSiyDTjz'].map((letter) => seal.open('someone', 'p', text.slice(0, -1) + letter)?.id)
  const { id } = seal.open('someone', 'p', text) ?? {}
  expect(new Set(respelled.filter((one) => one !== undefined))).toEqual(new Set([id]))
  expect(seal.open('someone', 'p', seal.seal('someone', 'p', permit({ number: 52 })))?.id).not.toBe(id)
})
