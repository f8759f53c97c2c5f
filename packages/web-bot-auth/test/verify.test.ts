// @module-tag nodes
import { createPrivateKey, sign as signBytes } from 'node:crypto'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { describe, expect, test } from 'vitest'
import {
  KeyDirectories,
  type ProfileName,
  profiles,
  type SignedRequest,
  type SignerOptions,
  verify,
} from '../src/index.ts'
import { jwkThumbprint } from '../src/keys.ts'
import { DIRECTORY_PATH } from '../src/profiles.ts'
import { KEYS_URL, type KeyServer, newKey, otherSpelling, startKeyServer } from './key-server.ts'
import { testKeys } from './vectors.ts'

const request = { method: 'GET', url: 'https://shop.example/list?page=2' }

async function signedFor(server: KeyServer, options: Partial<SignerOptions> = {}): Promise<SignedRequest> {
  return { ...request, headers: (await server.signer(options).sign(request)) ?? {} }
}

const fetches = ({ sites }: KeyServer) => sites.requestedUrls.filter((url) => url === KEYS_URL).length

describe.each(Object.keys(profiles) as ProfileName[])('a request signed for %s', (profile) => {
  test('is verified, with who signed it and what is covered', async () => {
    const server = await startKeyServer()
    const directories = server.directories()
    const signed = await signedFor(server, { profile })
    const verified = await verify(signed, { directories })
    expect(verified).toMatchObject({
      kind: 'verified',
      agent: server.sites.withPort(KEYS_URL),
      profile,
      covered: [...profiles[profile].components, 'signature-agent'],
    })
    expect(
      await verify(new Request(request.url, { headers: signed.headers as Record<string, string> }), { directories }),
    ).toEqual(verified)
    const pairs = Object.entries(signed.headers as Record<string, string>)
    const lists = Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), [value]]))
    const rawHeaders = ['Host', 'shop.example', ...pairs.flat()]
    for (const headers of [lists, pairs, rawHeaders])
      expect(await verify({ ...request, headers }, { directories })).toEqual(verified)
    expect(fetches(server)).toBe(1)
  })

  test.each([
    [-600_000, 'expired'],
    [600_000, 'created-in-future'],
  ])('by a clock that is %i ms off is invalid: %s', async (offMs, reason) => {
    const server = await startKeyServer()
    const signed = await signedFor(server, { profile, now: () => Date.now() + offMs })
    expect(await verify(signed, { directories: server.directories() })).toMatchObject({ kind: 'invalid', reason })
    expect(fetches(server), 'the clock is checked before the key').toBe(0)
  })

  test('with a key that RFC 9421 publishes is invalid, however its key set spells it', async () => {
    const server = await startKeyServer()
    const { kty, crv, x = '' } = testKeys.ed25519
    const directories = server.directories()
    const changed = { kty, crv, x: otherSpelling(x) }
    server.serve([changed])
    const [known, other] = [await jwkThumbprint(testKeys.ed25519), await jwkThumbprint(changed)]
    for (const [keyid, result] of [
      [known, { kind: 'invalid', reason: 'test-key' }],
      [other, { kind: 'unverified', reason: 'unknown-key' }],
    ] as const) {
      const signed = await signedFor(server, { profile })
      const headers = { ...(signed.headers as Record<string, string>) }
      headers['signature-input'] = (headers['signature-input'] ?? '').replace(/keyid="[^"]*"/, `keyid="${keyid}"`)
      expect(await verify({ ...signed, headers }, { directories })).toMatchObject(result)
    }
  })
})

test('a reused signature verifies for another path and method, as it covers neither', async () => {
  const server = await startKeyServer()
  const directories = server.directories()
  const { headers } = await signedFor(server, { profile: 'cloudflare', reuseMs: 10_000 })
  const other = { method: 'HEAD', url: 'https://shop.example/another', headers }
  expect(await verify(other, { directories })).toMatchObject({
    kind: 'verified',
    covered: ['@authority', 'signature-agent'],
  })
  expect(await verify({ ...other, url: 'https://other.example/another' }, { directories })).toMatchObject({
    reason: 'wrong-signature',
  })
})

test('a request whose URL a proxy has changed is refused with what was compared', async () => {
  const server = await startKeyServer()
  const changed = { ...(await signedFor(server)), url: 'http://10.0.0.7:3000/list?page=2' }
  expect(await verify(changed, { directories: server.directories() })).toEqual({
    kind: 'invalid',
    reason: 'wrong-signature',
    detail: `the key ${await server.signer().keyid()} has not signed this request; compared: @method, @target-uri, signature-agent of GET "http://10.0.0.7:3000/list?page=2"; behind a proxy, write the public URL`,
  })
})

describe('@query-param (RFC 9421 §2.2.8)', () => {
  test.each<[string, string, string, object]>([
    ['?who=J.+O%27Hara+(~1!)*', 'who', 'J.%20O%27Hara%20%28%7E1%21%29*', { kind: 'verified' }],
    ['?who=J.+O%27Hara+(~1!)*', 'who', "J.%20O'Hara%20(~1!)*", { reason: 'wrong-signature' }],
    ['?a=1&size%28cm%29=9', 'size%28cm%29', '9', { kind: 'verified' }],
    ['?a=1&size(cm)=9', 'size(cm)', '9', { reason: 'unsupported-component', detail: /not percent-encoded/ }],
    ['?a=', 'a', '', { kind: 'verified' }],
    ['?a=1&b=2&a=3', 'b', '2', { kind: 'verified' }],
    ['?a=1&b=2&a=1', 'a', '1', { reason: 'unsupported-component', detail: /occurs 2 times; cover "@query"/ }],
    ['?a=1&b=2&%61=3', 'a', '1', { reason: 'unsupported-component', detail: /occurs 2 times/ }],
    ['?a=1', 'b', '', { reason: 'unsupported-component', detail: /has no "@query-param";name="b"/ }],
  ])('of %s: %s is %s', async (query, name, value, { detail, ...expected }: { detail?: RegExp }) => {
    const server = await startKeyServer()
    const seconds = Math.floor(Date.now() / 1000)
    const agent = `"${server.sites.withPort('https://bot.test:PORT')}"`
    const keyid = await server.signer().keyid()
    const input = `("@authority" "@query-param";name="${name}" "signature-agent");created=${seconds};expires=${seconds + 60};keyid="${keyid}";tag="web-bot-auth"`
    const base = [
      '"@authority": shop.example',
      `"@query-param";name="${name}": ${value}`,
      `"signature-agent": ${agent}`,
      `"@signature-params": ${input}`,
    ].join('\n')
    const key = createPrivateKey({ key: server.key.privateKey, format: 'jwk' } as never)
    const signature = signBytes(null, Buffer.from(base), key).toString('base64')
    const headers = { 'signature-agent': agent, 'signature-input': `s=${input}`, signature: `s=:${signature}:` }
    const url = `https://shop.example/list${query}`
    const verification = await verify({ method: 'GET', url, headers }, { directories: server.directories() })
    expect(verification).toMatchObject({ ...expected, ...(detail && { detail: expect.stringMatching(detail) }) })
  })
})

describe('what is wrong with a signature is named:', () => {
  const change = (name: string, from: string | RegExp, to: string) => (headers: Record<string, string>) => {
    headers[name] = (headers[name] ?? '').replace(from, to)
  }
  const remove = (name: string) => (headers: Record<string, string>) => void delete headers[name]
  const input = 'signature-input'

  test.each<[string, string, (headers: Record<string, string>) => void]>([
    [
      'unverified',
      'unsigned',
      (headers) => {
        delete headers.signature
        delete headers[input]
      },
    ],
    ['unverified', 'unsigned', change(input, 'web-bot-auth', 'other')],
    ['invalid', 'malformed', remove('signature')],
    ['invalid', 'malformed', remove(input)],
    ['invalid', 'malformed', change(input, 'sig1=', 'sig1=(')],
    ['invalid', 'malformed', change('signature', 'sig1', 'sig2')],
    ['invalid', 'malformed', change('signature', /$/, ', sig1=:YQ==:')],
    ['invalid', 'malformed', change(input, /nonce="[^"]*"/, 'nonce=5')],
    [
      'invalid',
      'malformed',
      change(input, /created=\d+;expires=\d+/, 'created=999999999999990;expires=999999999999999'),
    ],
    [
      'invalid',
      'malformed',
      change(input, /created=\d+;expires=\d+/, 'created=-999999999999999;expires=-999999999999990'),
    ],
    ['invalid', 'malformed', change(input, /created=\d+/, 'created=8640000000001')],
    ['invalid', 'several-signatures', change(input, /(sig1)(=.*)/, '$1$2, b$2')],
    ['invalid', 'missing-parameter', change(input, /;expires=\d+/, '')],
    ['invalid', 'missing-parameter', change(input, /;created=\d+/, ';created=1.5')],
    ['invalid', 'missing-parameter', change(input, /;keyid="[^"]*"/, '')],
    ['invalid', 'missing-agent', remove('signature-agent')],
    ['invalid', 'bad-agent', change('signature-agent', 'https:', 'http:')],
    ['invalid', 'bad-agent', change('signature-agent', /^/, 'sig1="https://a.example", ')],
    ['invalid', 'bad-agent', change('signature-agent', /"$/, `/${'a'.repeat(2_048)}"`)],
    ['invalid', 'agent-not-covered', change(input, / "signature-agent"[^)]*/, '')],
    ['invalid', 'target-not-covered', change(input, '"@target-uri"', '"@path"')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("@method" "@method"')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("content-digest";bs')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("date"')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("@query-param";name="%"')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("@query-param";name="%ff"')],
    ['invalid', 'unsupported-component', change(input, '("@method"', '("user-agent";key="constructor"')],
    ['invalid', 'lifetime-too-long', change(input, /expires=\d+/, 'expires=9999999999')],
    ['invalid', 'lifetime-too-long', change(input, /expires=\d+/, 'expires=1')],
    ['invalid', 'wrong-algorithm', change(input, 'ed25519', 'rsa-pss-sha512')],
    ['invalid', 'wrong-signature', change(input, '"@method"', '"@path"')],
    ['unverified', 'unknown-key', change(input, /keyid="./, 'keyid="~')],
  ])('%s: %s', async (kind, reason, mutate) => {
    const server = await startKeyServer()
    const { headers } = await signedFor(server)
    const changed = { ...(headers as Record<string, string>) }
    mutate(changed)
    const verification = await verify({ ...request, headers: changed }, { directories: server.directories() })
    expect(verification).toMatchObject({ kind, reason, detail: expect.stringMatching(/\w/) })
  })
})

test.each([
  'https://shop.example*[',
  'https://shop.example*%zz',
  'https://:x',
  'https://a@b/',
  ' https://shop.example/',
])('a client cannot make verify reject by its URL: %j', async (url) => {
  const server = await startKeyServer()
  const directories = server.directories()
  const signed = { ...(await signedFor(server)), url }
  expect(await verify(signed, { directories })).toMatchObject({ kind: 'invalid', reason: 'unsupported-component' })
  expect(await verify({ ...signed, headers: {} }, { directories })).toMatchObject({ reason: 'unsigned' })
})

test.each([
  ['cloudflare', 'https://SHOP.example:443/list?page=2#top'],
  ['ietf-01', 'HTTPS://shop.example/list?page=2#'],
] as const)('a request signed for %s verifies at %s', async (profile, url) => {
  const server = await startKeyServer()
  const signed = { ...(await signedFor(server, { profile })), url }
  expect(await verify(signed, { directories: server.directories() })).toMatchObject({ kind: 'verified' })
})

test.each([
  ["https://shop.example/a'b?c='d'|e", "https://shop.example/a'b?c=%27d%27|e"],
  ['https://shop.example', 'https://shop.example/'],
  ['https://u:p@shop.example/a/../b c', 'https://shop.example/b%20c'],
])('%s is signed as it is sent: %s', async (url, sent) => {
  const server = await startKeyServer()
  const headers = (await server.signer().sign({ method: 'GET', url })) ?? {}
  expect(await verify({ method: 'GET', url: sent, headers }, { directories: server.directories() })).toMatchObject({
    kind: 'verified',
  })
})

test('a signature may cover 50 components, and the clock is checked before they are read', async () => {
  const server = await startKeyServer()
  const directories = server.directories()
  const { headers } = await signedFor(server)
  const covering = (count: number, expires?: number) => {
    const names = Array.from({ length: count }, (_, i) => `"x";key="a${i}"`)
    const input = (headers as Record<string, string>)['signature-input'] as string
    const changed = input.replace('(', `(${names.join(' ')} `)
    const ended = expires === undefined ? changed : changed.replace(/created=\d+;expires=\d+/, `created=1;expires=2`)
    const x = names.map((_, i) => `a${i}`).join(', ')
    return verify({ ...request, headers: { ...headers, x, 'signature-input': ended } }, { directories })
  }
  expect(await covering(47)).toMatchObject({ reason: 'wrong-signature' })
  expect(await covering(48)).toMatchObject({
    reason: 'unsupported-component',
    detail: expect.stringMatching(/51 components are covered; at most 50/),
  })
  expect(await covering(600, 2)).toMatchObject({ reason: 'expired' })
})

describe('a key set', () => {
  test('is fetched again for a key that it did not have: keys may be rotated under way', async () => {
    const server = await startKeyServer()
    let now = Date.now()
    const directories = server.directories({ now: () => now })
    const next = newKey()
    const [byOld, byNext] = [await signedFor(server), await signedFor(server, { key: next.privateKey })]
    const kinds = async () => [
      (await verify(byOld, { directories })).kind,
      (await verify(byNext, { directories })).kind,
    ]
    expect(await kinds()).toEqual(['verified', 'unverified'])
    server.serve([server.key.publicKey, next.publicKey])
    expect(await kinds(), 'within retryMs it is not fetched again').toEqual(['verified', 'unverified'])
    now += 60_000
    expect(await kinds(), 'both keys overlap').toEqual(['verified', 'verified'])
    server.serve([next.publicKey])
    now += 3_600_000
    expect(await kinds(), 'the old key is gone').toEqual(['unverified', 'verified'])
  })

  test('stays in force when a later fetch fails', async () => {
    const server = await startKeyServer()
    let now = Date.now()
    const directories = server.directories({ now: () => now, timeoutMs: 300 })
    const signed = await signedFor(server, { expiresMs: 86_400_000 })
    expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
    for (const reply of [
      { status: 500 },
      { status: 404 },
      { status: 200, body: '{}' },
      new Promise<never>(() => undefined),
    ]) {
      server.sites.respond(KEYS_URL, reply)
      now += 7_200_000
      expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
    }
    expect(fetches(server)).toBe(5)
  })

  test('is fresh for as long as its Cache-Control says, from one minute to a day', async () => {
    const server = await startKeyServer()
    let now = Date.now()
    const directories = server.directories({ now: () => now })
    const signed = await signedFor(server, { expiresMs: 86_400_000 })
    for (const [maxAge, freshMs] of [
      [0, 60_000],
      ['3600, no-store', 60_000],
      ['3600, no-cache', 60_000],
      [300, 300_000],
      [1e9, 86_400_000],
    ] as const) {
      server.serve([server.key.publicKey], { 'cache-control': `public, max-age=${maxAge}` })
      now += 86_400_000
      await verify(signed, { directories })
      const before = fetches(server)
      now += freshMs - 1
      await directories.find(server.sites.withPort(KEYS_URL), await server.signer().keyid())
      expect(fetches(server)).toBe(before)
      now += 1
      await directories.find(server.sites.withPort(KEYS_URL), await server.signer().keyid())
      expect(fetches(server)).toBe(before + 1)
    }
  })

  test('has no key whose time is over or has not come, or that is not for signatures', async () => {
    const server = await startKeyServer()
    const seconds = Math.floor(Date.now() / 1000)
    const resultFor = async (members: object) => {
      server.serve([{ ...server.key.publicKey, ...members }])
      return verify(await signedFor(server), { directories: server.directories() })
    }
    for (const members of [
      { exp: seconds - 30 * 86_400, nbf: seconds - 60 * 86_400 },
      { exp: seconds - 60 },
      { nbf: seconds + 60 },
      { nbf: seconds + 1e15 },
    ])
      expect(await resultFor(members), JSON.stringify(members)).toMatchObject({
        reason: 'unknown-key',
        detail: expect.stringMatching(/the time of the key \S+ is not now \(nbf, exp\)/),
      })
    for (const members of [
      { exp: '2999-01-01' },
      { nbf: null },
      { use: 'enc' },
      { key_ops: ['encrypt'] },
      { key_ops: 5 },
    ])
      expect(await resultFor(members), JSON.stringify(members)).toMatchObject({
        reason: 'unknown-key',
        detail: expect.stringMatching(/has no key/),
      })
    for (const members of [
      { exp: seconds - 1, nbf: seconds - 60 },
      { nbf: seconds + 2, exp: seconds + 60, use: 'sig', key_ops: ['verify'] },
      { key_ops: ['sign'], alg: 'EdDSA' },
    ])
      expect(await resultFor(members), JSON.stringify(members)).toMatchObject({ kind: 'verified' })
  })

  test('loses a key when its time is over, without another fetch', async () => {
    const server = await startKeyServer()
    let now = Date.now()
    const directories = server.directories({ now: () => now })
    server.serve([{ ...server.key.publicKey, exp: Math.floor(now / 1000) + 30 }])
    const signed = await signedFor(server)
    expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
    now += 36_000
    expect(await verify(signed, { directories })).toMatchObject({ reason: 'unknown-key' })
    expect(fetches(server)).toBe(1)
  })

  test('with other keys, private parts and invalid keys is read', async () => {
    const server = await startKeyServer()
    const keys = [
      { kty: 'oct', k: 'AAAA' },
      { kty: 'OKP', crv: 'Ed25519', x: 'short' },
      { kty: { toString: 1 } },
      { kty: 'OKP', crv: { toString: 1 }, x: [] },
      { kty: 'constructor' },
      5,
      null,
      testKeys.rsa,
      server.key.privateKey,
    ]
    server.serve(keys as never)
    expect(await verify(await signedFor(server), { directories: server.directories() })).toMatchObject({
      kind: 'verified',
    })
  })

  const many = Array.from({ length: 101 }, () => newKey().publicKey)
  test.each<[string, Parameters<KeyServer['sites']['respond']>[1], RegExp]>([
    ['status 404', { status: 404 }, /has status 404/],
    [
      'a redirect',
      { status: 302, headers: { location: '/keys' } },
      /has status 302; a key set needs 200, without a redirect/,
    ],
    ['status 203', { status: 203, body: '{"keys":[]}' }, /has status 203/],
    ['no JSON', { status: 200, body: '<html>' }, /is not JSON: the server sent a web page/],
    ['no list', { status: 200, body: '{"keys":{}}' }, /has no list `keys`/],
    ['too many keys', { status: 200, body: JSON.stringify({ keys: many }) }, /has 101 keys, which is more than 100/],
    ['too many bytes', { status: 200, body: ' '.repeat(65_537) }, /is longer than 65536 bytes/],
    ['a coding', { status: 200, headers: { 'content-encoding': 'gzip' }, body: '{"keys":[]}' }, /Content-Encoding/],
    ['no answer', new Promise<never>(() => undefined), /timeout|aborted/i],
  ])('with %s gives unverified, not invalid', async (_, answer, detail) => {
    const server = await startKeyServer()
    server.sites.respond(KEYS_URL, answer)
    server.sites.respond('https://bot.test:PORT/keys', {
      status: 200,
      body: JSON.stringify({ keys: [server.key.publicKey] }),
    })
    const directories = server.directories({ timeoutMs: 500 })
    const verification = await verify(await signedFor(server), { directories })
    expect(verification).toMatchObject({
      kind: 'unverified',
      reason: 'directory-failed',
      detail: expect.stringMatching(detail),
    })
    expect(server.sites.requestedUrls).toEqual([KEYS_URL])
    await verify(await signedFor(server), { directories })
    expect(server.sites.requestedUrls, 'the next request does not fetch it again').toEqual([KEYS_URL])
  })

  test('at a private address is not connected to', async () => {
    const server = await startKeyServer()
    const directories = new KeyDirectories({ lookup: lookupIn() })
    const byAddress = await signedFor(server, { agent: server.sites.withPort('https://127.0.0.1:PORT') })
    for (const signed of [await signedFor(server), byAddress])
      expect(await verify(signed, { directories })).toMatchObject({
        kind: 'unverified',
        reason: 'directory-failed',
        detail: expect.stringMatching(/not a public address/),
      })
    expect(server.sites.connections).toEqual([])
  })

  test('is fetched once for concurrent requests, and few are fetched at once', async () => {
    const server = await startKeyServer()
    const directories = server.directories({ maxFetches: 1 })
    const other = await signedFor(server, { agent: server.sites.withPort('https://other.test:PORT') })
    const signed = await Promise.all([1, 2, 3].map(() => signedFor(server)))
    const results = await Promise.all([...signed, other].map((one) => verify(one, { directories })))
    expect(results.map(({ kind }) => kind)).toEqual(['verified', 'verified', 'verified', 'unverified'])
    expect(results[3]).toMatchObject({ reason: 'directory-failed', detail: '1 other key sets are being fetched' })
    expect(fetches(server)).toBe(1)
  })

  describe('of a domain with many', () => {
    const many = Array.from({ length: 30 }, (_, n) => n)
    const hosts = many.map((n) => `https://a${n}.hostile.test:PORT${DIRECTORY_PATH}`)
    const paths = many.map((n) => `https://hostile.test:PORT/${'/'.repeat(n)}keys`)
    const asked = ({ sites }: KeyServer) => sites.requestedUrls.filter((url) => url.includes('hostile.test'))

    test('that never come leave most fetches to others', async () => {
      const server = await startKeyServer()
      const urls = [...hosts, ...paths]
      for (const url of urls) server.sites.respond(url, new Promise<never>(() => undefined))
      const directories = server.directories({ timeoutMs: 500 })
      const found = urls.map((url) => directories.find(server.sites.withPort(url), 'key'))
      expect(await verify(await signedFor(server), { directories })).toMatchObject({ kind: 'verified' })
      const refused = { kind: 'failed', detail: 'too many other key sets of hostile.test are being fetched' }
      expect((await Promise.all(found)).slice(4)).toEqual(urls.slice(4).map(() => refused))
    })

    test('does not evict the key sets of others', async () => {
      const server = await startKeyServer()
      let now = Date.now()
      const directories = server.directories({ maxDirectories: 10, now: () => now })
      const signed = await signedFor(server, { expiresMs: 86_400_000 })
      expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
      for (const url of [...paths, ...hosts]) {
        server.sites.respond(url, { status: 200, body: '{"keys":[]}' })
        expect(await directories.find(server.sites.withPort(url), 'key')).toMatchObject({ kind: 'unknown-key' })
        now += 6_000
      }
      expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
      expect(fetches(server)).toBe(1)
    })

    test.each([
      ['answers with key sets', { status: 200, body: '{"keys":[]}' }],
      ['has none', { status: 404 }],
    ])('and that %s is asked for ten well-known key sets and ten others a minute', async (_, answer) => {
      const server = await startKeyServer()
      let now = Date.now()
      const directories = server.directories({ now: () => now, maxDirectories: 5 })
      const findAll = async () => {
        for (const url of [...paths, ...hosts]) {
          server.sites.respond(url, answer)
          await directories.find(server.sites.withPort(url), 'key')
        }
      }
      await findAll()
      now += 59_999
      await findAll()
      expect(asked(server)).toEqual([...paths.slice(0, 10), ...hosts.slice(0, 10)])
      expect(await directories.find(server.sites.withPort(paths[20] as string), 'key')).toEqual({
        kind: 'failed',
        detail: 'hostile.test was asked for too many key sets within a minute',
      })
      expect(await verify(await signedFor(server), { directories })).toMatchObject({ kind: 'verified' })
      now += 1
      await findAll()
      expect(asked(server)).toHaveLength(40)
    })

    test('is asked for ten known key sets a minute, whose keys stay in force', async () => {
      const server = await startKeyServer()
      let now = Date.now()
      const directories = server.directories({ now: () => now, retryMs: 0 })
      const keyid = await server.signer().keyid()
      const find = (url: string, key: string) => directories.find(server.sites.withPort(url), key)
      for (const url of hosts) {
        server.sites.respond(url, { status: 200, body: JSON.stringify({ keys: [server.key.publicKey] }) })
        expect(await find(url, keyid)).toMatchObject({ kind: 'key' })
        now += 6_000
      }
      for (const url of hosts) await find(url, 'other')
      expect(asked(server)).toHaveLength(40)
      now += 7_200_000
      for (const url of hosts) expect(await find(url, keyid)).toMatchObject({ kind: 'key' })
      expect(asked(server)).toHaveLength(50)
    })
  })

  test('that was evicted is fetched again at once', async () => {
    const server = await startKeyServer()
    const directories = server.directories({ maxDirectories: 3 })
    const keyid = await server.signer().keyid()
    const find = async (path: string) => {
      const url = `https://bot.test:PORT/${path}`
      server.sites.respond(url, { status: 200, body: JSON.stringify({ keys: [server.key.publicKey] }) })
      return (await directories.find(server.sites.withPort(url), keyid)).kind
    }
    for (const path of ['a', 'b', 'c', 'a', 'b', 'other', 'c', 'a', 'b', 'c'])
      expect(await find(path), path).toBe('key')
    expect(server.sites.requestedUrls.map((url) => url.replace(/.*\//, ''))).toEqual([
      ...['a', 'b', 'c', 'other'],
      ...['c', 'a', 'b'],
    ])
  })

  test('that failed does not evict another', async () => {
    const server = await startKeyServer()
    const directories = server.directories({ maxDirectories: 1 })
    const signed = await signedFor(server)
    await verify(signed, { directories })
    await verify(await signedFor(server, { agent: server.sites.withPort('https://other.test:PORT') }), { directories })
    expect(await verify(signed, { directories })).toMatchObject({ kind: 'verified' })
    expect(fetches(server)).toBe(1)
  })
})

test.each<[string, unknown, object]>([
  ['request.method', { ...request, headers: {}, method: undefined }, {}],
  ['request.url', { ...request, headers: {}, url: '/list' }, {}],
  ['request.headers', { ...request }, {}],
  ['directories', { ...request, headers: {} }, { directories: new Map() }],
  ['clockSkewMs', { ...request, headers: {} }, { clockSkewMs: -1 }],
  ['now', { ...request, headers: {} }, { now: 5 }],
  ['clock', { ...request, headers: {} }, { clock: 5 }],
])('verify rejects %s', async (option, given, options) => {
  await expect(verify(given as SignedRequest, options)).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
})

test.each([
  ['timeoutMs', 0],
  ['maxBodyBytes', 0],
  ['maxKeys', 0],
  ['maxDirectories', 0],
  ['maxFetches', 0],
  ['retryMs', -1],
  ['allowAddresses', ['x']],
  ['lookup', 5],
  ['now', 5],
  ['ttl', 5],
])('KeyDirectories rejects %s: %o', (option, value) => {
  expect(() => new KeyDirectories({ [option]: value })).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION' }),
  )
})
