// Published signatures, and other libraries.
import { createPrivateKey, generateKeyPairSync, verify as verifyBytes } from 'node:crypto'
import { httpbis } from 'http-message-signatures'
import { describe, expect, test } from 'vitest'
import { verify as verifyByWebBotAuth } from 'web-bot-auth'
import { profiles, signer } from '../src/index.ts'
import {
  type Algorithm,
  algorithmOf,
  importPublic,
  type Jwk,
  jwkThumbprint,
  readPrivateKey,
  TEST_KEYS,
  verifies,
} from '../src/keys.ts'
import { signDirectory } from '../src/operator/index.ts'
import type { SignedRequest } from '../src/request-headers.ts'
import { receivedSignatureBase } from '../src/signature-base.ts'
import { type InnerList, strictDictionary } from '../src/structured.ts'
import { otherSpelling } from './key-server.ts'
import { architectureVectors, rfcRequest, rfcVectors, testKeys } from './vectors.ts'

/** Returns what was signed, and the bytes of the signature. */
function read(request: SignedRequest, input: string, signature: string) {
  const [[label, params] = []] = [...(strictDictionary(input) ?? [])]
  const [bytes] = strictDictionary(signature)?.get(label ?? '') ?? []
  return { base: receivedSignatureBase(request, params as InnerList), bytes: new Uint8Array(bytes as ArrayBuffer) }
}

async function isSignedBy(jwk: Jwk, { base, bytes }: ReturnType<typeof read>): Promise<boolean> {
  const algorithm = algorithmOf(jwk) as Algorithm
  return verifies(await importPublic(jwk, algorithm), algorithm, bytes, base)
}

test.each(rfcVectors)('verifies the signature of RFC 9421 $section', async ({ key, input, signature }) => {
  const parts = read(rfcRequest, input, signature)
  expect(await isSignedBy(testKeys[key], parts)).toBe(true)
  expect(await isSignedBy(testKeys[key], { ...parts, base: `${parts.base} ` })).toBe(false)
})

test('makes the signature of RFC 9421 B.2.6', async () => {
  const { base, bytes } = read(rfcRequest, rfcVectors[3].input, rfcVectors[3].signature)
  const { sign } = readPrivateKey('key', testKeys.ed25519)
  expect(sign(base)).toBe(Buffer.from(bytes).toString('base64'))
})

test('verifies the signature of a response with ecdsa-p256-sha256 (RFC 9421 B.2.4)', async () => {
  const base = [
    '"@status": 200',
    '"content-type": application/json',
    '"content-digest": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
    '"content-length": 23',
    '"@signature-params": ("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
  ].join('\n')
  const signature = 'wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw=='
  expect(await isSignedBy(testKeys.p256, { base, bytes: new Uint8Array(Buffer.from(signature, 'base64')) })).toBe(true)
})

describe('web_bot_auth_architecture_v2', () => {
  const partsOf = ({ headers }: (typeof architectureVectors)[number]) => {
    const request = { method: 'GET', url: 'https://example.com/path/to/resource', headers }
    return read(request, headers['signature-input'], headers.signature)
  }

  test.each(architectureVectors)('verifies with $key: $headers.signature-input', async (vector) => {
    const { key, headers } = vector
    expect(await isSignedBy(testKeys[key], partsOf(vector))).toBe(true)
    expect(await jwkThumbprint(testKeys[key])).toBe(/keyid="([^"]*)"/.exec(headers['signature-input'])?.[1])
  })

  test('makes the signatures with Ed25519 again', async () => {
    const { sign } = readPrivateKey('key', testKeys.ed25519)
    const vectors = architectureVectors.filter(({ key }) => key === 'ed25519').map(partsOf)
    expect(vectors).toHaveLength(2)
    for (const { base, bytes } of vectors) expect(sign(base)).toBe(Buffer.from(bytes).toString('base64'))
  })
})

test('knows the keys whose private part RFC 9421 publishes', async () => {
  for (const key of Object.values(testKeys)) expect(TEST_KEYS).toContain(await jwkThumbprint(key))
})

test('nobody signs with a key whose private part RFC 9421 publishes', async () => {
  const { d: _, ...publicKey } = testKeys.ed25519
  const pem = createPrivateKey({ key: testKeys.ed25519, format: 'jwk' } as never).export({
    type: 'pkcs8',
    format: 'pem',
  })
  const refusal = expect.objectContaining({
    code: 'ERR_POLITELY_OPTION',
    message: expect.stringMatching(/is a test key of RFC 9421, which anyone can sign with/),
  })
  const agent = 'https://bot.example'
  for (const key of [testKeys.ed25519, `${pem}`])
    expect(() => signer({ key, agent, profile: 'ietf-01' })).toThrow(refusal)
  const byFunction = { sign: () => new Uint8Array(64), publicKey }
  expect(() => signer({ key: byFunction.sign, publicKey, agent, profile: 'ietf-01' })).toThrow(refusal)
  for (const key of [testKeys.ed25519, byFunction])
    await expect(signDirectory({ keys: [key], agent })).rejects.toEqual(refusal)
})

test('a key whose parts belong to two keys is refused at once, and the refusal names the part that fits', () => {
  const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  for (const key of [newKey(), testKeys.ed25519])
    expect(() => signer({ key: { ...key, x: newKey().x }, agent: 'https://bot.example', profile: 'ietf-01' })).toThrow(
      expect.objectContaining({
        code: 'ERR_POLITELY_OPTION',
        message: expect.stringContaining(
          `\`x\` belongs to another key than \`d\`; write the public key of \`d\`: ${key.x}`,
        ),
      }),
    )
})

test('a PEM that is cut short is refused at once', () => {
  const pem = `${generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })}`
  expect(() =>
    signer({ key: pem.replace(/.{9}(?=\n-----END)/, ''), agent: 'https://bot.example', profile: 'ietf-01' }),
  ).toThrow(/is not the PEM of a private Ed25519 key/)
})

test('a key has one spelling', () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  for (const name of ['x', 'd'] as const)
    expect(() =>
      signer({
        key: { ...key, [name]: otherSpelling(key[name] as string) },
        agent: 'https://bot.example',
        profile: 'ietf-01',
      }),
    ).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'key' }))
})

describe('other libraries', () => {
  const url = 'https://shop.example:8443/a%20b?q=1&q=2'
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = privateKey.export({ format: 'jwk' }) as Jwk
  const isGenuine = (data: string | Buffer, signature: Uint8Array) =>
    verifyBytes(null, Buffer.from(data), publicKey, signature)
  const keyLookup = async () => ({
    algs: ['ed25519'],
    verify: async (data: Buffer, bytes: Buffer) => isGenuine(data, bytes),
  })
  const sign = async (profile: keyof typeof profiles, method = 'GET') => {
    const headers = await signer({ key, agent: 'https://bot.example', profile }).sign({ method, url })
    return headers as Record<string, string>
  }
  const byWebBotAuth = (headers: Record<string, string>) =>
    verifyByWebBotAuth(new Request(url, { headers }), (data, signature) => {
      if (!isGenuine(data, signature)) throw new Error('invalid signature')
    })

  test.each(Object.keys(profiles) as (keyof typeof profiles)[])(
    'http-message-signatures verifies %s',
    async (profile) => {
      const headers = await sign(profile, 'HEAD')
      const verifyMessage = (method: string) => httpbis.verifyMessage({ keyLookup }, { method, url, headers })
      expect(await verifyMessage('HEAD')).toBe(true)
      expect(await verifyMessage('GET')).not.toBe(true)
    },
  )

  /** Signs all components that a site may ask for, of a URL with credentials. */
  const signAll = (path: string) => {
    const names = ['@scheme', '@request-target', '@path', '@query', '@authority', '@method', '@target-uri']
    const wish = `site=(${names.map((name) => `"${name}"`).join(' ')});tag="web-bot-auth"`
    const asked = signer({ key, agent: 'https://bot.example', profile: 'ietf-01', when: 'challenged' })
    const request = { method: 'GET', url: `https://user:secret@shop.example:443/${path}` }
    expect(asked.challenged(request.url, wish, undefined)).toBe(true)
    return asked.sign(request) as Record<string, string>
  }

  test.each([
    ['a%20b?q=1&q=2', 'a%20b?q=1&q=2'],
    ['', ''],
    ['x/../a?#b', 'a?'],
    ['?', '?'],
    ['#b?c', ''],
  ])('signs all that a site may ask for, of /%s as it is sent', async (path, sent) => {
    const headers = signAll(path)
    const request = { method: 'GET', url: `https://shop.example/${sent}`, headers }
    const parts = read(request, `${headers['signature-input']}`, `${headers.signature}`)
    expect(await isSignedBy(key, parts)).toBe(true)
    if (sent.endsWith('?')) return // http-message-signatures removes an empty query
    expect(await httpbis.verifyMessage({ keyLookup }, request)).toBe(true)
  })

  test('web-bot-auth verifies cloudflare', async () => {
    await expect(byWebBotAuth(await sign('cloudflare'))).resolves.toBeUndefined()
    await expect(
      byWebBotAuth({ ...(await sign('cloudflare')), 'signature-agent': '"https://other.example"' }),
    ).rejects.toThrow()
  })

  // If this fails, a new release reads the form of the working group: then say so in
  // docs/signed-requests.md.
  test('web-bot-auth 0.1.3 refuses ietf-01', async () => {
    await expect(byWebBotAuth(await sign('ietf-01'))).rejects.toThrow('invalid signature')
  })
})
