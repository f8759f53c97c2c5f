// The options of all sinks, and their checks.
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import { OptionError } from '@politely/core'
import type { Logger } from '@politely/fetcher'
import {
  assertOptions,
  callable,
  callSafely,
  describeValue,
  integer,
  MAX_TIMER_MS,
  oneOf,
  withMethods,
} from '@politely/fetcher/internal'

/** The options of all sinks. */
export interface EvidenceOptions {
  /**
   * When a decision is written. `buffered`, the default: at most a second after it was made, or when
   * 64 KiB have gathered. A `kill -9` or SIGTERM loses that second; an exit of the process does not.
   * `before-sending`: before its request is sent. The system has the record then, so it survives
   * `kill -9`. Results are buffered in both modes.
   */
  readonly mode?: 'buffered' | 'before-sending' | undefined
  /**
   * What happens while nothing can be written, such as on a full disk. `stop`, the default: checks
   * reject with an `EvidenceError`, and no request is sent, until it works again. `continue`: the
   * crawl goes on. What does not fit into the buffer is lost, and a `gap` record counts it.
   */
  readonly onFailure?: 'stop' | 'continue' | undefined
  /**
   * How URLs of pages are written. `whole`, the default: without credentials. `hashed`: the origin
   * and the SHA-256 of the URL, so that the record cannot be replayed. Errors are then written
   * without their messages.
   */
  readonly urls?: 'whole' | 'hashed' | undefined
  /** The purpose of the crawl, for each decision. Default none. */
  readonly purpose?: string | undefined
  /** A private Ed25519 key (JWK), which signs the head of the chain. Default none. */
  readonly key?: Readonly<Record<string, unknown>> | undefined
  /** How often the head is signed while records are written. Milliseconds; default 60,000. */
  readonly signEveryMs?: number | undefined
  /** Its `warn` is told when writing fails. Default: `process.emitWarning`. */
  readonly logger?: Logger | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** The options of sinks that write into a folder. */
export interface EvidenceFileOptions extends EvidenceOptions {
  /** The folder, which is created. Several processes may share it. */
  readonly dir: string
  /** A new file begins so often, aligned to UTC. Milliseconds; default one hour. */
  readonly rotateEveryMs?: number | undefined
  /** A new file begins before the file gets larger. Bytes; default 256 MiB. */
  readonly maxFileBytes?: number | undefined
  /**
   * Whether a request waits until its decision survives a power loss: `fdatasync`, once for all
   * requests that wait. Default false. It implies `mode: 'before-sending'`.
   */
  readonly fsync?: boolean | undefined
}

const NAMES = ['mode', 'onFailure', 'urls', 'purpose', 'key', 'signEveryMs', 'logger', 'now']
const NAMES_OF_FOLDERS = ['dir', 'rotateEveryMs', 'maxFileBytes', 'fsync']

/** A key that signs heads. */
export interface HeadKey {
  readonly secret: KeyObject
  readonly shown: { readonly kty: string; readonly crv: string; readonly x: string }
  /** The thumbprint (RFC 7638). */
  readonly keyId: string
}

type Checked<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

/** The checked options of all sinks. */
export interface Settings extends Checked<Omit<EvidenceOptions, 'key' | 'logger' | 'purpose'>> {
  readonly purpose: string | undefined
  readonly key: HeadKey | undefined
  readonly warn: (message: string) => void
  readonly fsync: boolean
}

/** The checked options of a folder. */
export type FolderSettings = Settings & Checked<Pick<EvidenceFileOptions, 'dir' | 'rotateEveryMs' | 'maxFileBytes'>>

/** @throws {OptionError} for an invalid or unknown option. */
export function folderSettings(options: EvidenceFileOptions): FolderSettings {
  const checked = settingsOf(options, '{ dir: "evidence" }', NAMES_OF_FOLDERS)
  const { dir, rotateEveryMs = 3_600_000, maxFileBytes = 2 ** 28, fsync = false, mode } = options
  if (typeof dir !== 'string' || dir === '')
    throw new OptionError('dir', `${describeValue(dir)} is not a folder; expected a path such as "evidence"`)
  if (typeof fsync !== 'boolean') throw new OptionError('fsync', `${describeValue(fsync)} is not true or false`)
  if (fsync && mode === 'buffered')
    throw new OptionError('fsync', 'cannot be combined with mode: "buffered"; leave out mode')
  return {
    ...checked,
    mode: fsync ? 'before-sending' : checked.mode,
    fsync,
    dir,
    rotateEveryMs: integer('rotateEveryMs', rotateEveryMs, { min: 1000, example: 3_600_000 }),
    maxFileBytes: integer('maxFileBytes', maxFileBytes, { min: 65_536, example: 2 ** 28 }),
  }
}

/**
 * @param example Options to show in an error message.
 * @param more The names of more options.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function settingsOf(options: EvidenceOptions, example: string, more: readonly string[]): Settings {
  assertOptions(options, example, Object.fromEntries([...NAMES, ...more].map((name) => [name, true])))
  const { mode = 'buffered', onFailure = 'stop', urls = 'whole', purpose, signEveryMs = 60_000, logger, key } = options
  if (purpose !== undefined && typeof purpose !== 'string')
    throw new OptionError('purpose', `${describeValue(purpose)} is not a text; expected one such as "archive"`)
  withMethods('logger', logger, [], 'an object such as console')
  const emitWarning = (message: string) =>
    process.emitWarning(message, { type: 'PolitelyWarning', code: 'POLITELY_EVIDENCE' })
  return {
    mode: oneOf('mode', mode, ['buffered', 'before-sending']),
    onFailure: oneOf('onFailure', onFailure, ['stop', 'continue']),
    urls: oneOf('urls', urls, ['whole', 'hashed']),
    purpose,
    key: key && headKey(key),
    signEveryMs: integer('signEveryMs', signEveryMs, { min: 1000, max: MAX_TIMER_MS, example: 60_000 }),
    now: callable('now', options.now, 'a function that returns milliseconds') ?? Date.now,
    warn: (message) => callSafely(() => (logger?.warn ? logger.warn(message) : emitWarning(message))),
    fsync: false,
  }
}

/** @throws {OptionError} for another key than a private Ed25519 key. */
function headKey(key: unknown): HeadKey {
  const { kty, crv, d } = Object(key) as Record<string, unknown>
  try {
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof d !== 'string') throw new TypeError('it is another key')
    const secret = createPrivateKey({ key: key as never, format: 'jwk' })
    const { x } = createPublicKey(secret).export({ format: 'jwk' }) as { readonly x: string }
    const keyId = hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url')
    return { secret, shown: { kty, crv, x }, keyId }
  } catch {
    // The message of the cause might show the key.
    const expected = '{ kty: "OKP", crv: "Ed25519", x: "…", d: "…" }, such as a file of politely keys new'
    throw new OptionError('key', `is not a private Ed25519 key; expected ${expected}`)
  }
}
