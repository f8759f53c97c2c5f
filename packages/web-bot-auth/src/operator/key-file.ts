// Key files: one private JWK each, for its owner only.

import type { webcrypto } from 'node:crypto'
import { constants, open } from 'node:fs/promises'
import { OptionError } from '@politely/core'
import { assertOptions, MAX_TIME_MS, number } from '@politely/fetcher/internal'
import { type Jwk, jwkThumbprint, privateKeyOf } from '../keys.ts'
import { KeyFileError } from './errors.ts'

/** A private Ed25519 key as a JWK, with the time in which it is valid. Experimental. */
export interface OwnKey extends Jwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly d: string
  /** The thumbprint (RFC 7638). */
  readonly kid: string
  /** From when it signs. Seconds since 1970. */
  readonly nbf: number
  /** Until when it is published. Seconds since 1970. */
  readonly exp?: number
}

/**
 * Creates a key by WebCrypto.
 * @param from When it begins to sign. Milliseconds since 1970.
 * @throws {OptionError} for another value.
 */
export async function createKey(from: number): Promise<OwnKey> {
  time('from', from)
  const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify'])
  const { x, d } = (await crypto.subtle.exportKey('jwk', (pair as webcrypto.CryptoKeyPair).privateKey)) as Jwk
  const key = { kty: 'OKP', crv: 'Ed25519', x: x as string, d: d as string } as const
  return { ...key, kid: await jwkThumbprint(key), nbf: Math.floor(from / 1000) }
}

/** Options of `rotateKey`. @inline */
export interface RotationOptions {
  /**
   * How long the new key is published before it signs: at least as long as verifiers keep a key
   * set. Milliseconds.
   */
  readonly leadMs: number
  /** How long the old key stays published after that. Milliseconds. */
  readonly overlapMs: number
  /** The time. Milliseconds since 1970. */
  readonly now: number
}

/**
 * Returns a new key, and the old key with the time of its end. Experimental.
 * @throws {OptionError} for an invalid or unknown option, and if the old key ends before the new
 * key signs: no key would be valid meanwhile.
 */
export async function rotateKey(
  old: OwnKey,
  options: RotationOptions,
): Promise<{ readonly old: OwnKey; readonly next: OwnKey }> {
  assertOptions(options, '{ leadMs: 86400000, overlapMs: 604800000, now: Date.now() }', ROTATION)
  const { leadMs, overlapMs, now } = options
  time('now', now)
  number('leadMs', leadMs, { min: 0, max: MAX_ROTATION_MS, example: 86_400_000 })
  number('overlapMs', overlapMs, { min: 0, max: MAX_ROTATION_MS, example: 604_800_000 })
  privateKeyOf('old', old)
  const next = await createKey(now + leadMs)
  if (old.exp !== undefined && old.exp < next.nbf) {
    const leftMs = old.exp * 1000 - now
    const remedy =
      leftMs <= 0
        ? 'create one that signs at once: politely keys new FILE'
        : `write leadMs: ${Math.floor(leftMs)} or less (--lead ${Math.floor((leftMs / 86_400_000) * 100) / 100}), or raise exp in its file`
    throw new OptionError(
      'old',
      `the key ends at ${new Date(old.exp * 1000).toISOString()}, before the new one signs, so no key would be valid meanwhile; ${remedy}`,
    )
  }
  const end = next.nbf + Math.ceil(overlapMs / 1000)
  // A second rotation must not keep the first key for longer.
  return { old: { ...old, exp: Math.min(old.exp ?? end, end) }, next }
}

const ROTATION: Readonly<Record<keyof RotationOptions, true>> = { leadMs: true, overlapMs: true, now: true }
/** Ten years. */
const MAX_ROTATION_MS = 3_650 * 86_400_000

/** Checks a time in milliseconds, which a Date can have. */
function time(option: string, ms: unknown): void {
  number(option, ms as number, { min: 0, max: MAX_TIME_MS - MAX_ROTATION_MS, example: 1_800_000_000_000 })
}

/** Returns the text of a key file: the private key as a JWK. Experimental. */
export function keyText(key: OwnKey): string {
  return `${JSON.stringify(key, null, 2)}\n`
}

/**
 * Reads a key file.
 * @throws {KeyFileError} for a file that others may read, that cannot be read, or that has no
 * private Ed25519 key in it.
 */
export async function readKeyFile(path: string): Promise<OwnKey> {
  let text: string
  try {
    // Without O_NONBLOCK, `open` of a FIFO waits for a writer. Windows has neither.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    // The mode of the open file: another one may take its name meanwhile.
    const stats = await file.stat()
    if (!stats.isFile()) throw new KeyFileError(path, 'it is not a regular file; write the name of a key file')
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw new KeyFileError(
        path,
        `others may open it (mode ${(stats.mode & 0o777).toString(8)}); write chmod 600 ${path}, and replace the key by politely keys rotate if somebody has read it`,
      )
    if (stats.size > MAX_BYTES) throw new KeyFileError(path, `it has over ${MAX_BYTES} bytes; it is not a key file`)
    text = await file.readFile('utf8')
  } catch (error) {
    if (error instanceof KeyFileError) throw error
    const { code = String(error) } = error as NodeJS.ErrnoException
    const problem = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new KeyFileError(path, `${problem}; politely keys new FILE creates one`)
  }
  return keyIn(path, text)
}

const MAX_BYTES = 65_536

async function keyIn(path: string, text: string): Promise<OwnKey> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new KeyFileError(path, 'it is not JSON; write the name of a file of politely keys new')
  }
  const jwk = Object(parsed) as Jwk
  const { x, d, nbf = 0, exp } = jwk
  try {
    privateKeyOf('key', jwk)
  } catch (error) {
    const isPrivate = typeof x === 'string' && typeof d === 'string' && error instanceof OptionError
    const missing = 'it has no private Ed25519 key as a JWK; write the name of a file of politely keys new'
    throw new KeyFileError(path, isPrivate ? error.explanation : missing)
  }
  const times = [nbf, ...(exp === undefined ? [] : [exp])]
  if (!times.every((time) => Number.isSafeInteger(time)))
    throw new KeyFileError(path, 'nbf and exp are seconds since 1970; write whole numbers, or leave them out')
  const key = { kty: 'OKP', crv: 'Ed25519', x: x as string, d: d as string } as const
  const kid = await jwkThumbprint(key)
  return { ...key, kid, nbf: nbf as number, ...(exp !== undefined && { exp: exp as number }) }
}
