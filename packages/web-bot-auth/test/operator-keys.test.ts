import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type JsonWebKeyInput, verify as verifyBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpbis } from 'http-message-signatures'
import { expect, onTestFinished, test } from 'vitest'
import { type Algorithm, algorithmOf, importPublic, type Jwk, verifies } from '../src/keys.ts'
import { digestOf } from '../src/operator/directory.ts'
import {
  checkDirectory,
  checkIdentity,
  createKey,
  directoryHandler,
  identityFiles,
  keyText,
  type OwnKey,
  parseIdentity,
  readKeyFile,
  rotateKey,
  signDirectory,
} from '../src/operator/index.ts'
import { responseSignatureBase } from '../src/signature-base.ts'
import { type InnerList, strictDictionary } from '../src/structured.ts'

const AGENT = 'https://bot.example'
const URL_OF_KEYS = `${AGENT}/.well-known/http-message-signatures-directory`
const NOW = Date.UTC(2026, 10, 27)
const DAY_MS = 86_400_000
const now = () => NOW

const IDENTITY = JSON.stringify({
  name: 'A',
  productToken: 'A',
  page: 'https://a.test/b',
  contact: 'a@a.test',
  purposes: ['x'],
  ranges: ['192.0.2.0/28'],
})

/** Starts a server, and resolves with its origin. */
async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function newFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'politely-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'bot.jwk')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

test('a key file keeps a key', async () => {
  const key = await createKey(NOW)
  expect(await readKeyFile(newFile(keyText(key)))).toEqual(key)
  expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', nbf: NOW / 1000 })
})

test.skipIf(process.platform === 'win32').for([0o640, 0o604, 0o660, 0o644])(
  'a key file of mode %o is refused, since others may open it',
  async (mode) => {
    const path = newFile(keyText(await createKey(NOW)))
    chmodSync(path, mode)
    const message = `"${path}": others may open it (mode ${mode.toString(8)}); write chmod 600 ${path}, and `
    await expect(readKeyFile(path)).rejects.toMatchObject({
      code: 'ERR_POLITELY_KEY_FILE',
      message: expect.stringContaining(message),
    })
  },
)

test.for([
  ['nonsense', /it is not JSON; write the name of a file of politely keys new/],
  ['[]', /it has no private Ed25519 key as a JWK/],
  ['{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}', /it has no private Ed25519 key/],
  ['null', /it has no private Ed25519 key/],
  [' '.repeat(70_000), /it has over 65536 bytes/],
] as const)('a key file with %j is refused', async ([text, message]) => {
  await expect(readKeyFile(newFile(text))).rejects.toThrow(message)
})

test('a key file with a PEM as JSON is refused', async () => {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  await expect(readKeyFile(newFile(JSON.stringify(pem)))).rejects.toThrow(/it has no private Ed25519 key as a JWK/)
})

test('a key file whose parts do not belong together, or with wrong times, is refused', async () => {
  const [key, other] = [await createKey(NOW), await createKey(NOW)]
  await expect(readKeyFile(newFile(JSON.stringify({ ...key, x: other.x })))).rejects.toThrow(
    /`x` belongs to another key than `d`/,
  )
  await expect(readKeyFile(newFile(JSON.stringify({ ...key, exp: '2027' })))).rejects.toThrow(/seconds since 1970/)
  await expect(readKeyFile('/nowhere/bot.jwk')).rejects.toThrow(/there is no such file; politely keys new FILE/)
  await expect(readKeyFile(tmpdir())).rejects.toThrow(/not a regular file/)
})

test('two keys overlap: the old one stays published until the new one has signed for a while', async () => {
  const first = await createKey(NOW)
  const { old, next } = await rotateKey(first, { leadMs: DAY_MS, overlapMs: 7 * DAY_MS, now: NOW })
  expect(next.nbf * 1000).toBe(NOW + DAY_MS)
  expect((old.exp as number) * 1000).toBe(NOW + 8 * DAY_MS)
  const kidsAt = async (at: number) => (await signDirectory({ keys: [old, next], agent: AGENT, now: () => at })).kids
  expect(await kidsAt(NOW)).toEqual([old.kid, next.kid])
  expect(await kidsAt(NOW + 8 * DAY_MS - 1000)).toEqual([old.kid, next.kid])
  expect(await kidsAt(NOW + 8 * DAY_MS)).toEqual([next.kid])
  // A second rotation must not keep the first key for longer.
  const again = await rotateKey(old, { leadMs: DAY_MS, overlapMs: 70 * DAY_MS, now: NOW })
  expect(again.old.exp).toBe(old.exp)
  await expect(signDirectory({ keys: [old], agent: AGENT, now: () => NOW + 9 * DAY_MS })).rejects.toThrow(
    /keys: all of them have expired; create one: politely keys new FILE/,
  )
})

test('a rotation leaves no time without a valid key', async () => {
  const key = await createKey(NOW)
  const rotate = (exp: number) => rotateKey({ ...key, exp }, { leadMs: DAY_MS, overlapMs: 7 * DAY_MS, now: NOW })
  const day = NOW / 1000 + 86_400
  expect((await rotate(day)).old.exp).toBe(day)
  await expect(rotate(day - 43_200)).rejects.toThrow(
    /old: the key ends at .*, before the new one signs, .* write leadMs: 43200000 or less \(--lead 0.5\), or raise exp/,
  )
  await expect(rotate(NOW / 1000)).rejects.toThrow(/create one that signs at once: politely keys new FILE/)
})

test.for<[option: string, call: () => Promise<unknown>]>([
  ['from', () => createKey(undefined as never)],
  ['from', () => createKey(Number.NaN)],
  ['old', () => rotateKey({} as never, { leadMs: 0, overlapMs: 0, now: NOW })],
  ['now', async () => rotateKey(await createKey(NOW), {} as never)],
  ['leadMs', async () => rotateKey(await createKey(NOW), { leadMs: -1, overlapMs: 0, now: NOW })],
  ['overlapMs', async () => rotateKey(await createKey(NOW), { leadMs: 0, overlapMs: Number.NaN, now: NOW })],
  ['options', () => directoryHandler(undefined as never)],
  ['now', async () => directoryHandler({ keys: [await createKey(NOW)], agent: AGENT, now: 5 as never })],
  ['kids', () => checkDirectory(AGENT, 'abc' as never)],
  [
    'kids',
    () =>
      checkIdentity(parseIdentity(IDENTITY), { kids: [5] as never })
        [Symbol.asyncIterator]()
        .next(),
  ],
  ['userAgent', () => checkDirectory(AGENT, [], { userAgent: 'a\nb' })],
  ['userAgent', () => checkDirectory(AGENT, [], { userAgent: 5 as never })],
  ['now', () => identityFiles(parseIdentity(IDENTITY), { now: 5 as never })],
])('names the option %s: %s', async ([option, call]) => {
  await expect(call()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
})

test('publishes each key once, and no more keys than clients read', async () => {
  const key = await createKey(NOW)
  await expect(signDirectory({ keys: [key, key], agent: AGENT, now })).rejects.toThrow(
    `keys[1]: has the key ${key.kid} a second time; write each key once`,
  )
  const many = await Promise.all(Array.from({ length: 60 }, () => createKey(NOW)))
  await expect(signDirectory({ keys: many, agent: AGENT, now })).rejects.toThrow(
    /keys: 60 keys make \d+ bytes of headers, .* leave out keys that no longer sign/,
  )
  const { headers } = await signDirectory({ keys: many.slice(0, 30), agent: AGENT, now })
  const origin = await listening((_, response) => void response.writeHead(200, headers).end())
  expect((await fetch(origin)).status).toBe(200)
})

test.skipIf(process.platform === 'win32')('a FIFO is refused, and not waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-fifo-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  execFileSync('mkfifo', ['-m', '600', join(folder, 'bot.jwk')])
  await expect(readKeyFile(join(folder, 'bot.jwk'))).rejects.toThrow(/it is not a regular file/)
})

test('the handler leaves a response alone that has been answered already', async () => {
  const handler = await directoryHandler({ keys: [await createKey(NOW)], agent: AGENT, now })
  const origin = await listening((request, response) => {
    handler.node(request, response)
    response.writeHead(503)
    setTimeout(() => response.end('busy'), 20)
  })
  const response = await fetch(`${origin}/.well-known/http-message-signatures-directory`)
  expect([response.status, await response.text()]).toEqual([503, 'busy'])
})

test('never publishes the private part', async () => {
  const key = await createKey(NOW)
  const { body, headers } = await signDirectory({ keys: [key], agent: AGENT, now })
  expect(JSON.parse(body)).toEqual({
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: key.x, kid: key.kid, use: 'sig', nbf: key.nbf }],
  })
  expect(body + JSON.stringify(headers)).not.toContain(key.d)
})

test('verifies the signed directory of the draft (draft-meunier-webbotauth-httpsig-protocol-02)', async () => {
  const x = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'
  const kid = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U'
  const body = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid, x, use: 'sig' }] })
  expect(digestOf(body)).toBe('sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:')
  const params = `("@authority";req "content-digest");created=1735689600;expires=4889289600;keyid="${kid}";tag="http-message-signatures-directory"`
  const [input] = [...(strictDictionary(`binding=${params}`)?.values() ?? [])]
  const request = {
    method: 'GET',
    url: 'https://signature-agent.test/.well-known/http-message-signatures-directory',
    headers: {},
  }
  const response = { status: 200, headers: { 'content-digest': digestOf(body) } }
  const base = responseSignatureBase(request, response, input as InnerList)
  const signature = 'l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg=='
  const jwk: Jwk = { kty: 'OKP', crv: 'Ed25519', x }
  const algorithm = algorithmOf(jwk) as Algorithm
  const key = await importPublic(jwk, algorithm)
  const bytes = new Uint8Array(Buffer.from(signature, 'base64'))
  expect(await verifies(key, algorithm, bytes, base)).toBe(true)
  const elsewhere = responseSignatureBase({ ...request, url: 'https://other.test/' }, response, input as InnerList)
  expect(await verifies(key, algorithm, bytes, elsewhere)).toBe(false)
})

/** Verifies a signed directory by another library. */
async function verifiedByOther(
  keys: readonly OwnKey[],
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<boolean | null> {
  const keyLookup = async ({ keyid }: { readonly keyid?: string }) => {
    const { kty, crv, x } = keys.find(({ kid }) => kid === keyid) as OwnKey
    const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' } as JsonWebKeyInput)
    const verify = async (data: Buffer, signature: Buffer) => verifyBytes(null, data, key, signature)
    return { id: keyid as string, algs: ['ed25519'], verify }
  }
  const request = { method: 'GET', url, headers: {} }
  return httpbis.verifyMessage({ keyLookup: keyLookup as never, all: true }, { status: 200, headers }, request)
}

test('another library verifies the signature of each key, for this host only', async () => {
  const keys = [await createKey(Date.now()), await createKey(Date.now())]
  const { headers, url } = await signDirectory({ keys, agent: AGENT })
  expect(url).toBe(URL_OF_KEYS)
  expect(await verifiedByOther(keys, url, headers)).toBe(true)
  expect(await verifiedByOther(keys, url.replace('bot.example', 'other.example'), headers)).not.toBe(true)
})

test('a key whose private part stays with its keeper signs too', async () => {
  const key = await createKey(Date.now())
  const { kty, crv, x, d } = key
  const signing = await crypto.subtle.importKey('jwk', { kty, crv, x, d } as never, 'Ed25519', false, ['sign'])
  const sign = (bytes: Uint8Array<ArrayBuffer>) => crypto.subtle.sign('Ed25519', signing, bytes)
  const publicKey = { kty, crv, x, exp: 4_000_000_000 }
  const { headers, url, body } = await signDirectory({ keys: [{ sign, publicKey }], agent: AGENT })
  expect(await verifiedByOther([key], url, headers)).toBe(true)
  expect(JSON.parse(body).keys).toEqual([{ kty, crv, x, kid: key.kid, use: 'sig', exp: 4_000_000_000 }])
})

test.for([
  [{ agent: 'http://bot.example' }, /agent: "http:\/\/bot.example" is not the https: URL of a key set/],
  [{ keys: [] }, /keys: .* is not a list of keys/],
  [{ keys: ['x'] }, /keys\[0\]/],
  [
    { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' }] },
    /a public key cannot sign/,
  ],
  [{ validMs: 1 }, /validMs: 1 is out of range/],
  [{ validMs: 60_000 }, /maxAgeS: 3600 s are not shorter than validMs/],
  [{ maxAgeS: 100_000 }, /maxAgeS: 100000 is out of range/],
  [{ valid: 1 }, /valid/],
] as const)('signDirectory refuses %j', async ([options, message]) => {
  const key = await createKey(NOW)
  await expect(signDirectory({ keys: [key], agent: AGENT, ...options } as never)).rejects.toThrow(message)
})

test('the handler serves the directory to fetch servers, and signs again', async () => {
  let at = NOW
  const key = await createKey(NOW)
  const { fetch, url } = await directoryHandler({ keys: [key], agent: AGENT, now: () => at })
  const first = await fetch(new Request(url))
  expect(first.status).toBe(200)
  expect(first.headers.get('content-type')).toBe('application/http-message-signatures-directory+json')
  expect(await first.text()).toContain(key.kid)
  const expiresOf = ({ headers }: Response) =>
    Number(/expires=(\d+)/.exec(headers.get('signature-input') ?? '')?.[1]) * 1000
  expect(expiresOf(first)).toBe(NOW + 2 * DAY_MS)
  at += DAY_MS - 1
  expect(expiresOf(await fetch(new Request(url)))).toBe(NOW + 2 * DAY_MS)
  at += 1
  expect(expiresOf(await fetch(new Request(url)))).toBe(NOW + 3 * DAY_MS)
  const head = await fetch(new Request(url, { method: 'HEAD' }))
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(new Request(url, { method: 'POST' }))).status).toBe(405)
  expect((await fetch(new Request(`${AGENT}/other`))).status).toBe(404)
})

test('a key function that fails later leaves the signatures of before', async () => {
  let at = NOW
  let isDown = false
  const { kty, crv, x, d } = await createKey(NOW)
  const signing = await crypto.subtle.importKey('jwk', { kty, crv, x, d } as never, 'Ed25519', false, ['sign'])
  const sign = async (bytes: Uint8Array<ArrayBuffer>) => {
    if (isDown) throw new Error('the service is down')
    return crypto.subtle.sign('Ed25519', signing, bytes)
  }
  const { fetch, url } = await directoryHandler({
    keys: [{ sign, publicKey: { kty, crv, x } }],
    agent: AGENT,
    now: () => at,
  })
  isDown = true
  at += DAY_MS
  expect((await fetch(new Request(url))).status).toBe(200)
  isDown = false
  expect((await fetch(new Request(url))).headers.get('signature-input')).toContain(`created=${at / 1000}`)
})

test('the handler serves the directory to node:http', async () => {
  const handler = await directoryHandler({ keys: [await createKey(NOW)], agent: AGENT, now })
  const origin = await listening((request, response) =>
    handler.node(request, response, () => response.writeHead(418).end()),
  )
  const response = await fetch(`${origin}/.well-known/http-message-signatures-directory?x=1`)
  expect([response.status, digestOf(await response.text())]).toEqual([200, response.headers.get('content-digest')])
  expect((await fetch(`${origin}/other`)).status).toBe(418)
})

test('the text of a key file is one JWK that signer takes', async () => {
  const key = await createKey(NOW)
  expect(JSON.parse(readFileSync(newFile(keyText(key)), 'utf8'))).toEqual(key)
})
