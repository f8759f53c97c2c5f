// Signs permits and tickets, so that the server recognises its own, and no tenant can use the permits of
// another tenant.
//
// A sealed text looks like `p.lx3k9f2a.mi0c2f80.aHR0cHM6Ly9leGFtcGxlLmNvbQ.5ZtqkW…`: its kind, its
// number, the end of its validity, its pace key, and a signature over all of these and the tenant.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** A permit, or a ticket: the place of a URL that waits. */
export type SealedKind = 'p' | 't'

/** What a permit or a ticket stands for. */
interface Sealed {
  /** No two permits and tickets have the same number. */
  readonly number: number
  /** The pace key. */
  readonly key: string
}

/** 128 bits of an HMAC with SHA-256 are more than anyone can guess (RFC 2104 §5). */
const SIGNATURE_BYTES = 16

/** The longest text that is read: a key has at most 500 characters. */
const MAX_LENGTH = 2_500

export class Seal {
  readonly #secret: KeyObject

  constructor(secret: Uint8Array) {
    this.#secret = createSecretKey(secret)
  }

  seal(tenant: string, kind: SealedKind, { number, key }: Sealed, validMs: number): string {
    const endsAt = Math.ceil(Date.now() + validMs)
    const head = `${kind}.${number.toString(36)}.${endsAt.toString(36)}.${Buffer.from(key).toString('base64url')}`
    return `${head}.${this.#sign(tenant, head).toString('base64url')}`
  }

  /** Returns undefined for a text that this server has not sealed for this tenant. */
  open(tenant: string, kind: SealedKind, text: string): Sealed | undefined {
    if (text.length > MAX_LENGTH) return undefined
    const end = text.lastIndexOf('.')
    const head = text.slice(0, Math.max(end, 0))
    const signature = Buffer.from(text.slice(end + 1), 'base64url')
    if (signature.length !== SIGNATURE_BYTES || !timingSafeEqual(signature, this.#sign(tenant, head))) return undefined
    const [given, number = '', , key = ''] = head.split('.')
    if (given !== kind) return undefined
    return { number: Number.parseInt(number, 36), key: Buffer.from(key, 'base64url').toString() }
  }

  #sign(tenant: string, head: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${tenant}\0${head}`).digest().subarray(0, SIGNATURE_BYTES)
  }
}
