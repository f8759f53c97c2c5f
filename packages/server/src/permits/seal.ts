// Signs permits and tickets, so that the servers with one key recognise each other's, and no tenant
// can use the permits of another tenant.
//
// A sealed text looks like `p2.vJ3k-Q2c9dXz.1f.mi0c1e5k.mi0c2f80.WyIxNzY0MDAwMDAwMDAwMTIzIl0…`: its kind
// and format, the server that has sealed it, its number there, when it was granted, the end of its
// validity, and its pace key. With the key is what a report needs at another server, as far as that
// fits. Last comes a signature over all of these and the tenant.
//
// The format before, `p.1f.mi0c2f80.aHR0cHM6Ly9leGFtcGxlLmNvbQ.5ZtqkW…`, is read too: a server of the
// version before may have sealed it.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Ticket } from '@politely/gate'
import type { PermitRecord } from '@politely/gate/internal'

/** A permit, or a ticket: the place of a URL that waits. */
export type SealedKind = 'p' | 't'

/** What a permit or a ticket stands for. */
export interface Sealed extends PermitRecord {
  /**
   * The server that has sealed it: a random text, another one after each start. Empty in the format
   * before.
   */
  readonly server: string
  /** No two permits and tickets of one server have the same number. */
  readonly number: number
  /** When it was sealed. Milliseconds since 1970. In the format before: `endsAt`. */
  readonly grantedAt: number
  /** Milliseconds since 1970. */
  readonly endsAt: number
}

/** A text that was opened. No other text has the same `id`. */
export type Opened = Sealed & { readonly id: string }

/** 128 bits of an HMAC with SHA-256 are more than anyone can guess (RFC 2104 §5). */
const SIGNATURE_BYTES = 16
const SIGNATURE_LENGTH = 22

/** The longest text that is read. It has room for every pace key, which has at most 500 characters. */
const MAX_LENGTH = 2_500

/** An origin that is the pace key too. */
const SAME = '='

export class Seal {
  readonly #secrets: readonly [KeyObject, ...KeyObject[]]

  /** @param secrets The first of them signs. All of them are read. */
  constructor(secrets: readonly Uint8Array[]) {
    this.#secrets = secrets.map((secret) => createSecretKey(secret)) as [KeyObject, ...KeyObject[]]
  }

  seal(tenant: string, kind: SealedKind, sealed: Sealed): string {
    const { server, number, grantedAt, endsAt, key, ticket, probe, origin = '' } = sealed
    const start = `${kind}2.${server}.${number.toString(36)}.${grantedAt.toString(36)}.${endsAt.toString(36)}.`
    const maxLength = MAX_LENGTH - SIGNATURE_LENGTH - 1
    const withRecord = (slot: string, of: string) => start + Buffer.from(`${slot}\n${of}\n${key}`).toString('base64url')
    const slot = ticket === undefined ? '' : JSON.stringify([ticket, probe])
    let head = withRecord(slot, origin === key ? SAME : origin)
    if (head.length > maxLength) head = withRecord(slot, '')
    if (head.length > maxLength) head = withRecord('', '')
    return `${head}.${sign(this.#secrets[0], tenant, head).toString('base64url')}`
  }

  /** Returns undefined for a text that no server with these secrets has sealed for this tenant. */
  open(tenant: string, kind: SealedKind, text: string): Opened | undefined {
    if (text.length > MAX_LENGTH) return undefined
    const end = text.lastIndexOf('.')
    const head = text.slice(0, Math.max(end, 0))
    const signature = Buffer.from(text.slice(end + 1), 'base64url')
    if (signature.length !== SIGNATURE_BYTES) return undefined
    let isOurs = false
    for (const secret of this.#secrets) isOurs = timingSafeEqual(signature, sign(secret, tenant, head)) || isOurs
    if (!isOurs) return undefined
    const [format, ...fields] = head.split('.')
    const sealed = format === `${kind}2` ? sealedOf(fields) : format === kind ? sealedBefore(fields) : undefined
    return sealed && Object.assign(sealed, { id: signature.toString('base64url') })
  }
}

function sign(secret: KeyObject, tenant: string, head: string): Buffer {
  return createHmac('sha256', secret).update(`${tenant}\0${head}`).digest().subarray(0, SIGNATURE_BYTES)
}

function sealedOf([server = '', number = '', grantedAt = '', endsAt = '', record = '']: readonly string[]): Sealed {
  const text = decoded(record)
  const slotEnd = text.indexOf('\n')
  const originEnd = text.indexOf('\n', slotEnd + 1)
  const [slot, origin, key] = [text.slice(0, slotEnd), text.slice(slotEnd + 1, originEnd), text.slice(originEnd + 1)]
  const [ticket, probe]: readonly (Ticket | null)[] = slot === '' ? [] : JSON.parse(slot)
  return {
    server,
    number: Number.parseInt(number, 36),
    grantedAt: Number.parseInt(grantedAt, 36),
    endsAt: Number.parseInt(endsAt, 36),
    key,
    ticket: ticket ?? undefined,
    probe: probe ?? undefined,
    origin: origin === SAME ? key : origin || undefined,
  }
}

function sealedBefore([number = '', endsAt = '', key = '']: readonly string[]): Sealed {
  const at = Number.parseInt(endsAt, 36)
  return { server: '', number: Number.parseInt(number, 36), grantedAt: at, endsAt: at, key: decoded(key) }
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64url').toString()
}
