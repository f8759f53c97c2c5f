// The options of all sinks, and their checks.
import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto'
import { OptionError } from '@politely/core'
import { assertOptions, callable, describeValue, integer, oneOf } from '@politely/fetcher/internal'

/** The options of all sinks. */
export interface EvidenceOptions {
  /**
   * When a decision is written. `buffered` (the default): at most a second after it was made, or when
   * 32 KiB have gathered. A `kill -9` or SIGTERM loses that second; an exit of the process does not.
   * `before-sending`: before its request is sent. The system has the record then, so it survives
   * `kill -9`. Results are buffered in both modes.
   */
  readonly mode?: 'buffered' | 'before-sending' | undefined
  /**
   * What happens while nothing can be written, such as on a full disk. `stop` (the default): checks
   * reject with an `EvidenceError`, and no request is sent, until it works again. `continue`: the
   * crawl goes on. What does not fit into the buffer is lost, and a `gap` record counts it.
   */
  readonly onFailure?: 'stop' | 'continue' | undefined
  /**
   * How URLs of pages are written. `whole` (the default): without credentials. `hashed`: the origin
   * and the SHA-256 of the URL, so that the record cannot be replayed. Errors are then written
   * without their messages.
   */
  readonly urls?: 'whole' | 'hashed' | undefined
  /** The purpose of the crawl, for each decision. Default none. */
  readonly purpose?: string | undefined
  /** A private Ed25519 key (JWK), which signs the head of the chain each minute. Default none. */
  readonly key?: Readonly<Record<string, unknown>> | undefined
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
   * requests that wait. Default false. With it, `mode` is `before-sending`.
   */
  readonly fsync?: boolean | undefined
}

const NAMES = { mode: true, onFailure: true, urls: true, purpose: true, key: true, now: true } as const
const FOLDER_NAMES = { dir: true, rotateEveryMs: true, maxFileBytes: true, fsync: true } as const
export const STREAM_EXAMPLE = '{ write: (lines) => void process.stdout.write(lines) }'

type Checked<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

/** The checked options. A stream has no `dir`. */
export interface Settings extends Checked<Omit<EvidenceFileOptions, 'key' | 'purpose'>> {
  readonly purpose: string | undefined
  /** Returns the fields of a `head` record. */
  readonly sign: ((chain: string, seq: number, prev: string) => object) | undefined
}

/** @throws {OptionError} for an invalid or unknown option. */
export function settingsOf(options: Partial<EvidenceFileOptions>, isStream = false): Settings {
  if (isStream) assertOptions(options, STREAM_EXAMPLE, { ...NAMES, write: true })
  else assertOptions(options, '{ dir: "evidence" }', { ...NAMES, ...FOLDER_NAMES })
  const { mode = 'buffered', onFailure = 'stop', urls = 'whole', purpose, key, now = Date.now } = options
  const { dir = '', rotateEveryMs = 3_600_000, maxFileBytes = 2 ** 28, fsync = false } = options
  if (!isStream && (typeof dir !== 'string' || dir === ''))
    throw new OptionError('dir', `${describeValue(dir)} is not a folder; expected a path such as "evidence"`)
  if (purpose !== undefined && typeof purpose !== 'string')
    throw new OptionError('purpose', `${describeValue(purpose)} is not a text; expected one such as "search"`)
  if (typeof fsync !== 'boolean') throw new OptionError('fsync', `${describeValue(fsync)} is not true or false`)
  return {
    mode: oneOf('mode', fsync ? 'before-sending' : mode, ['buffered', 'before-sending']),
    onFailure: oneOf('onFailure', onFailure, ['stop', 'continue']),
    urls: oneOf('urls', urls, ['whole', 'hashed']),
    purpose,
    sign: key === undefined ? undefined : signerBy(key),
    now: callable('now', now, 'a function that returns milliseconds'),
    dir,
    rotateEveryMs: integer('rotateEveryMs', rotateEveryMs, { min: 1000, example: 3_600_000 }),
    maxFileBytes: integer('maxFileBytes', maxFileBytes, { min: 65_536, example: 2 ** 28 }),
    fsync,
  }
}

/** @throws {OptionError} for another key than a private Ed25519 key. */
function signerBy(jwk: object): NonNullable<Settings['sign']> {
  try {
    const secret = createPrivateKey({ key: jwk as never, format: 'jwk' })
    const { crv, kty, x } = createPublicKey(secret).export({ format: 'jwk' })
    if (crv !== 'Ed25519') throw new TypeError('it is another key')
    const keyId = hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url') // RFC 7638
    return (chain, seq, prev) => {
      const signature = sign(null, Buffer.from(`politely-evidence 1 ${chain} ${seq} ${prev}`), secret)
      return { key: { kty, crv, x }, keyId, signature: signature.toString('base64url') }
    }
  } catch {
    // The message of the cause might show the key.
    const expected = '{ kty: "OKP", crv: "Ed25519", x: "…", d: "…" }, such as a file of politely keys new'
    throw new OptionError('key', `is not a private Ed25519 key; expected ${expected}`)
  }
}
