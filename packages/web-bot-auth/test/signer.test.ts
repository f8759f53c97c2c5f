import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Jwk, type SignerOptions, SigningError, signer } from '../src/index.ts'
import { jwkThumbprint } from '../src/keys.ts'
import { newKey } from './key-server.ts'

const { privateKey, publicKey } = newKey()
const valid: SignerOptions = { key: privateKey, agent: 'https://bot.example', profile: 'cloudflare' }
const url = 'https://example.com/page'

/** Signs, and expects headers. */
async function signedBy(options: Partial<SignerOptions>, request: { method?: string; url?: string } = {}) {
  const headers = await signer({ ...valid, ...options }).sign({ method: 'GET', url, ...request })
  return headers as Record<string, string>
}

const coveredBy = (headers: Readonly<Record<string, string>>) => /\((.*)\)/.exec(headers['signature-input'] ?? '')?.[1]

describe('the profiles', () => {
  test('cloudflare names the agent by a string', async () => {
    const headers = await signedBy({})
    expect(headers['signature-agent']).toBe('"https://bot.example"')
    expect(coveredBy(headers)).toBe('"@authority" "@method" "@target-uri" "signature-agent"')
  })

  test('ietf-01 names the key set in a dictionary, by the label of the signature', async () => {
    const headers = await signedBy({ profile: 'ietf-01' })
    expect(headers['signature-agent']).toBe('sig1="https://bot.example/.well-known/http-message-signatures-directory"')
    expect(coveredBy(headers)).toBe('"@method" "@target-uri" "signature-agent";key="sig1"')
    const elsewhere = await signedBy({ profile: 'ietf-01', agent: 'https://bot.example/keys.json' })
    expect(elsewhere['signature-agent']).toBe('sig1="https://bot.example/keys.json"')
  })

  test('both have times, the thumbprint, the algorithm, the tag and a new nonce each time', async () => {
    const keyid = await jwkThumbprint(publicKey)
    const [first, second] = [await signedBy({ now: () => 1_000_999 }), await signedBy({ now: () => 1_000_999 })]
    expect(first['signature-input']).toContain(
      `;created=1000;expires=1061;keyid="${keyid}";alg="ed25519";tag="web-bot-auth";nonce="`,
    )
    expect(first['signature-input']).not.toBe(second['signature-input'])
    expect((await signedBy({ now: () => 0, expiresMs: 1_500 }))['signature-input']).toContain('created=0;expires=2;')
  })
})

test.each([['http://example.com/'], ['ftp://example.com/robots.txt'], ['no URL']])(
  'leaves %s unsigned',
  async (other) => {
    expect(await signer(valid).sign({ method: 'GET', url: other })).toBeUndefined()
  },
)

describe('the key', () => {
  test('may be a PEM of OpenSSL', async () => {
    const pair = generateKeyPairSync('ed25519', {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const fromPem = signer({ ...valid, key: pair.privateKey })
    expect(await fromPem.keyid()).toBe(await jwkThumbprint(await fromPem.publicKey()))
    expect(await fromPem.publicKey()).not.toHaveProperty('d')
  })

  test('signs without a promise, unless it is a function', () => {
    const { privateKey: secret } = generateKeyPairSync('ed25519')
    for (const key of [privateKey, `${secret.export({ type: 'pkcs8', format: 'pem' })}`])
      expect(signer({ ...valid, key }).sign({ method: 'GET', url })).toHaveProperty('signature')
    const byFunction = { ...valid, key: (bytes: Uint8Array) => signBytes(null, bytes, secret), publicKey }
    const late = signer(byFunction).sign({ method: 'GET', url }) as Promise<unknown>
    expect(late).toBeInstanceOf(Promise)
    return expect(late).rejects.toThrow('`publicKey` does not verify')
  })

  test('may stay with a function that signs', async () => {
    const { privateKey: secret, publicKey: known } = generateKeyPairSync('ed25519')
    const key = async (bytes: Uint8Array) => signBytes(null, bytes, secret)
    const headers = await signedBy({ key, publicKey: known.export({ format: 'jwk' }) as Jwk })
    expect(headers.signature).toMatch(/^sig1=:[\w+/]{86}==:$/)
  })

  test.each<[string, SignerOptions['key'], RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no KMS')
      },
      /`key` failed/,
    ],
    ['rejects', async () => Promise.reject(new Error('no KMS')), /`key` failed/],
    ['returns a text', (() => 'signature') as never, /expected a Uint8Array of 64 bytes/],
    ['returns 63 bytes', () => new Uint8Array(63), /returned 63 bytes/],
    ['has another key', () => new Uint8Array(64), /`publicKey` does not verify/],
  ])('fails with its code if the function %s', async (_, key, message) => {
    const failed = signedBy({ key, publicKey })
    await expect(failed).rejects.toThrow(message)
    await expect(failed).rejects.toBeInstanceOf(SigningError)
    await expect(failed).rejects.toMatchObject({ code: 'ERR_POLITELY_SIGNING' })
  })
})

test.each<[string, object, RegExp]>([
  ['key', { key: undefined }, /undefined is not a private Ed25519 key; write a JWK/],
  ['key', { key: publicKey }, /a public key cannot sign/],
  ['key', { key: { kty: 'RSA' } }, /is not a private Ed25519 key/],
  [
    'key',
    { key: '{"kty":"OKP","d":"secret"}' },
    /^key: the text is JSON, such as of a key file; write JSON\.parse\(text\) or await readKeyFile\(path\)$/,
  ],
  ['key', { key: 'keys/bot.jwk' }, /the text is the name of a file; write await readKeyFile\(path\) of [^;]+$/],
  ['key', { key: '-----BEGIN EC PRIVATE KEY-----' }, /not the PEM of a private Ed25519 key in PKCS #8/],
  ['publicKey', { key: () => new Uint8Array(64) }, /is missing; write the JWK of the public key/],
  ['publicKey', { key: () => new Uint8Array(64), publicKey: { kty: 'EC' } }, /not the JWK of a public Ed25519 key/],
  ['publicKey', { publicKey }, /leave it out/],
  ['agent', { agent: undefined }, /is not the https: URL/],
  ['agent', { agent: 'http://bot.example' }, /is not the https: URL/],
  ['agent', { agent: 'https://user:secret@bot.example' }, /is not the https: URL/],
  ['agent', { agent: 'https://bot.example/?a=b' }, /is not the https: URL/],
  ['agent', { agent: 'https://bot.example/keys' }, /has a path.*write "https:\/\/bot.example"/],
  ['profile', { profile: undefined }, /is missing; expected one of cloudflare, ietf-01/],
  ['profile', { profile: 'ietf' }, /expected one of cloudflare, ietf-01/],
  ['when', { when: 'never' }, /expected one of always, challenged/],
  ['expiresMs', { expiresMs: 0 }, /out of range/],
  ['expiresMs', { expiresMs: 86_400_001 }, /out of range/],
  ['reuseMs', { reuseMs: 30_001 }, /out of range/],
  ['reuseMs', { reuseMs: 1_000, profile: 'ietf-01' }, /needs a signature for each request/],
  ['reuseMs', { reuseMs: 30_000, expiresMs: 30_000 }, /is not less than expiresMs/],
  ['siteHeaders', { siteHeaders: 'x' }, /is not an object/],
  ['siteHeaders["https://shop.example"]', { siteHeaders: { 'https://shop.example': {} } }, /the name is not a host/],
  ['siteHeaders["shop.example"]', { siteHeaders: { 'shop.example': { host: 'x' } } }, /not a header that a site gives/],
  ...['Keep-Alive', 'proxy-authorization', 'Proxy-Connection'].map((name): [string, object, RegExp] => [
    'siteHeaders["shop.example"]',
    { siteHeaders: { 'shop.example': { [name]: 'x' } } },
    /not a header that a site gives/,
  ]),
  [
    'siteHeaders["shop.example"]',
    { siteHeaders: { 'shop.example': { signature: 'a\r\nb: c' } } },
    /visible ASCII in one line/,
  ],
  ['siteHeaders["SHOP.example"]', { siteHeaders: { 'shop.example': {}, 'SHOP.example': {} } }, /a second time/],
  ['now', { now: 5 }, /function/],
  ['secret', { secret: 'x' }, /unknown/],
])('rejects %s of %o', (option, given, message) => {
  const create = () => signer({ ...valid, ...given } as SignerOptions)
  expect(create).toThrow(message)
  expect(create).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }))
})

test.each([
  [1_000_999, 1_000, 1_002],
  [1_000_999, 86_400_000, 87_400],
])('a signature of %i lasts for %i ms or up to 24 hours', async (now, expiresMs, expires) => {
  expect((await signedBy({ now: () => now, expiresMs }))['signature-input']).toContain(
    `;created=1000;expires=${expires};`,
  )
})

test.each([
  ['GET\n"@path": /', 'has a line break'],
  [undefined as never, 'the message has no'],
])('signs no request whose method is %j', (method, problem) => {
  expect(() => signer(valid).sign({ method, url })).toThrow(`${problem}`)
})

test('a signature that has expired before it came is not sent', async () => {
  const { privateKey: secret, publicKey: known } = generateKeyPairSync('ed25519')
  let now = 1_000_000
  let takesMs = 60_000
  const key = (bytes: Uint8Array) => {
    now += takesMs
    return signBytes(null, bytes, secret)
  }
  const slow = { key, publicKey: known.export({ format: 'jwk' }) as Jwk, now: () => now }
  await expect(signedBy(slow)).rejects.toThrow(
    /took 60000 ms, and the signature has expired meanwhile; raise expiresMs/,
  )
  takesMs = 59_999
  await expect(signedBy(slow)).resolves.toHaveProperty('signature')
})

describe('reuseMs', () => {
  test('never returns a signature that has expired', async () => {
    let now = 1_000_999
    const reusing = signer({ ...valid, reuseMs: 999, expiresMs: 1_000, now: () => now })
    const headers = (await reusing.sign({ method: 'GET', url })) as Record<string, string>
    now += 998
    expect(await reusing.sign({ method: 'GET', url })).toBe(headers)
    expect(Number(/expires=(\d+)/.exec(headers['signature-input'] ?? '')?.[1]) * 1000).toBeGreaterThan(now)
  })

  test('uses one signature of an authority for its time', async () => {
    let now = 1_000_000
    const reusing = signer({ ...valid, reuseMs: 30_000, now: () => now })
    const at = (path: string) => reusing.sign({ method: 'GET', url: `https://example.com${path}` })
    const first = (await at('/a')) as Record<string, string>
    expect(coveredBy(first)).toBe('"@authority" "signature-agent"')
    expect(first['signature-input']).not.toContain('nonce')
    now += 29_999
    expect(await at('/b')).toBe(first)
    expect(await reusing.sign({ method: 'GET', url: 'https://example.com:8443/a' })).not.toEqual(first)
    now += 1
    expect(await at('/b')).not.toEqual(first)
    now -= 100_000 // the clock was set back
    expect(await at('/b')).not.toEqual(first)
  })

  test('does not keep a failure', async () => {
    const { privateKey: secret, publicKey: known } = generateKeyPairSync('ed25519')
    let calls = 0
    const key = (bytes: Uint8Array) => {
      calls++
      if (calls === 1) throw new Error('busy')
      return signBytes(null, bytes, secret)
    }
    const reusing = signer({ ...valid, key, publicKey: known.export({ format: 'jwk' }) as Jwk, reuseMs: 1_000 })
    await expect(reusing.sign({ method: 'GET', url })).rejects.toThrow('failed')
    await expect(reusing.sign({ method: 'GET', url })).resolves.toBeDefined()
  })
})

describe('Accept-Signature', () => {
  const asked = (accept: string, options: Partial<SignerOptions> = {}) => {
    const challenged = signer({ ...valid, when: 'challenged', ...options })
    return { challenged, isAnswered: challenged.challenged(url, accept, undefined) }
  }

  test.each([
    'sig=("@authority" "signature-agent");tag="web-bot-auth"',
    'sig=("@method" "@target-uri");created;expires;keyid;alg="ed25519";tag="web-bot-auth"',
    'sig=()',
    'other=("date");tag="other", sig=("@path");tag="web-bot-auth"',
  ])('%s is answered with the label that it names, and remembered for the authority', async (accept) => {
    const { challenged, isAnswered } = asked(accept)
    expect(isAnswered).toBe(true)
    const headers = (await challenged.sign({ method: 'GET', url: 'https://example.com/other' })) as Record<
      string,
      string
    >
    expect(headers.signature).toMatch(/^sig=:/)
    expect(await challenged.sign({ method: 'GET', url: 'https://other.example/' })).toBeUndefined()
    expect(challenged.challenged(url, accept, headers), 'it was signed as asked, and refused').toBe(false)
    expect(challenged.challenged(url, accept, undefined), 'another request was sent before').toBe(true)
  })

  test.each([
    'sig=("content-digest");tag="web-bot-auth"',
    'sig=("@authority");tag="other"',
    'sig=("@authority");alg="rsa-pss-sha512"',
    'sig=("@authority");nonce="abc"',
    'sig=("@authority";req)',
    'sig=("@path" "@authority" "@path")',
    'sig=("signature-agent";key="a" "signature-agent";key="b")',
    `${'a'.repeat(65)}=("@path")`,
    `sig=("@path");x="${'a'.repeat(4_096)}"`,
    'sig=?1',
    'no dictionary (',
    '',
  ])('%s cannot be answered', async (accept) => {
    const { challenged, isAnswered } = asked(accept)
    expect(isAnswered).toBe(false)
    expect(await challenged.sign({ method: 'GET', url })).toBeUndefined()
  })

  test('that names this key is answered', async () => {
    const challenged = signer({ ...valid, when: 'challenged' })
    expect(challenged.sign({ method: 'GET', url }), 'it costs no turn of the event loop').toBeUndefined()
    const accept = (keyid: string) => `sig=("@path");keyid="${keyid}";tag="web-bot-auth"`
    expect(challenged.challenged(url, accept('other'), undefined)).toBe(false)
    expect(challenged.challenged(url, accept(await jwkThumbprint(publicKey)), undefined)).toBe(true)
  })

  test('adds what a site wants covered, and no longer reuses the signature then', async () => {
    const { challenged, isAnswered } = asked('sig=("@path" "@authority");tag="web-bot-auth"', {
      when: 'always',
      reuseMs: 10_000,
    })
    expect(isAnswered).toBe(true)
    const headers = (await challenged.sign({ method: 'GET', url })) as Record<string, string>
    expect(coveredBy(headers)).toBe('"@authority" "@method" "@target-uri" "@path" "signature-agent"')
  })

  test('of one domain with many names is forgotten before that of others', { tags: 'full' }, async () => {
    const challenged = signer({ ...valid, when: 'challenged' })
    const ask = (host: string) => challenged.challenged(`https://${host}/`, `${'a'.repeat(64)}=("@path")`, undefined)
    const isSigned = async (host: string) =>
      (await challenged.sign({ method: 'GET', url: `https://${host}/page` })) !== undefined
    expect(ask('shop.example')).toBe(true)
    for (let n = 0; n <= 10_000; n++) ask(`a${n}.hostile.example`)
    expect(await Promise.all(['shop.example', 'a1.hostile.example', 'a10000.hostile.example'].map(isSigned))).toEqual([
      true,
      false,
      true,
    ])
  })

  test('over http changes nothing', () => {
    expect(signer(valid).challenged('http://example.com/', 'sig=("@path")', undefined)).toBe(false)
  })
})

describe('siteHeaders', () => {
  const siteHeaders = { 'Shop.example': { Signature: 'sig1=:YQ==:', 'X-Visitor': 'a b' } }

  test('are sent to their host only, over https only', async () => {
    const given = signer({ ...valid, siteHeaders })
    expect(await given.sign({ method: 'GET', url: 'https://shop.example/a' })).toEqual({
      signature: 'sig1=:YQ==:',
      'x-visitor': 'a b',
    })
    for (const other of ['https://shop.example:8443/', 'https://a.shop.example/', 'https://example.com/'])
      expect(await given.sign({ method: 'GET', url: other })).not.toHaveProperty('x-visitor')
    expect(await given.sign({ method: 'GET', url: 'http://shop.example/' })).toBeUndefined()
    expect(given.challenged('https://shop.example/', 'sig=("@path")', undefined)).toBe(false)
  })
})
