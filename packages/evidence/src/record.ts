// The records: one JSON object for each line. `data/evidence-1.schema.json` describes the same for
// readers in other languages. Times of events are in ISO 8601; all other times are numbers, in
// milliseconds since 1970.
import type { Access } from '@politely/core'
import type { Delay, Entry } from '@politely/core/engine'
import type { ClientVerdict, DecidingClient, Decision, DecisionResult } from '@politely/fetcher'

/** The version of the form of records: `v` of each. */
export const RECORD_VERSION = 1

/** What all records have. */
interface RecordBase {
  readonly v: typeof RECORD_VERSION
  /** The chain: one for each start of a process with this sink. */
  readonly chain: string
  /** Counts the records of the chain, from 0. */
  readonly seq: number
  /**
   * The SHA-256 of the line before in this chain, in hexadecimal, without its line end; empty for
   * the first one.
   */
  readonly prev: string
  /** When the event happened, in ISO 8601. */
  readonly time: string
}

/** The first record of each file. */
export interface StartRecord extends RecordBase {
  readonly kind: 'start'
  /** The version of Politely that decides. */
  readonly politely: string
  readonly node: string
  readonly pid: number
  /** The first 12 digits of the SHA-256 of the host's name. */
  readonly host: string
}

/** A robots.txt. Written before the first decision by it. */
export interface FileRecord extends RecordBase {
  readonly kind: 'robots-txt'
  /**
   * The SHA-256 in hexadecimal: of the bytes after transfer and content coding, before BOM and
   * charset, up to the size limit.
   */
  readonly sha256: string
  readonly bytes: number
  /** Whether the size limit has cut it. */
  readonly truncated: boolean
  /** The URL after redirects. */
  readonly url: string
  /** Of the last response that sent or confirmed the file, if this process has received it. */
  readonly status?: number
  /** All headers of that response but those that may identify a person. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Its bytes, compressed by zstd, in base64: in a stream, which has no files. */
  readonly content?: string
}

/** What was decided about a URL, and everything that it depends on. */
export interface DecisionRecord extends RecordBase {
  readonly kind: 'decision'
  readonly id: string
  readonly use: Decision['use']
  /** Without credentials. If `hashed`, the origin only. */
  readonly url: string
  /** The SHA-256 of the URL without credentials, in hexadecimal, if paths are hashed. */
  readonly hashed?: string
  /** Whether credentials were removed from the URL. */
  readonly hadCredentials?: true
  /**
   * The URLs that led to this one; absent for none. If `hashed`, each is its origin and
   * `#sha256=` with the hash of the URL without credentials.
   */
  readonly redirectedFrom?: readonly string[]
  readonly replaces?: string
  /** Who decided, and by which options. An `afterDays` of Infinity in `policy` is `null`. */
  readonly by: Omit<DecidingClient, 'dialect'> & {
    /** The name of the dialect, or a custom dialect itself. */
    readonly dialect: string | object
    /** The purpose of the crawl, if the sink was given one. */
    readonly purpose?: string
    /** The version of Politely. */
    readonly politely: string
  }
  /** Why, with the rule, its line and its group. The URL is `url` of the record. */
  readonly verdict: Pick<ClientVerdict, 'allowed' | 'because'> & Readonly<Record<string, unknown>>
  /** Absent for an invalid URL, as are the following fields. */
  readonly origin?: string
  readonly access?: Access
  /** The copy of the robots.txt that the client had; `access.copy` says whether it decided. */
  readonly robotsTxt?: { readonly sha256: string } & Omit<NonNullable<Entry['copy']>, 'bytes'>
  /** The state of the origin: its entry without the copy and the earlier attempts. */
  readonly state?: { readonly name: string } & Omit<Entry, 'copy' | 'earlier' | 'origin' | 'version'>
  /** The headers of the deciding response that matter, if this process has received it. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** What the site asks of this crawler; absent for nothing. */
  readonly asked?: Pick<ClientVerdict, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>
  /** Set if the request may start although `verdict.allowed` is false. */
  readonly obey?: NonNullable<Decision['obey']>
  /** The option `maxAgeMs` of the check. Milliseconds. */
  readonly maxAgeMs?: number
}

/** What became of a decision. A decision may have several. */
export interface ResultRecord extends RecordBase {
  readonly kind: 'result'
  readonly id: string
  readonly outcome: DecisionResult['outcome']
  /** The name or code of the error, and its message. */
  readonly error?: string
  readonly status?: number
  readonly permit?: {
    /** When the request could start, in ISO 8601. */
    readonly time: string
    /** How long it waited. Milliseconds. */
    readonly waitedMs: number
    readonly waitedFor: string
    readonly waitedLevel?: string
    readonly key: string
    readonly delay: Delay
  }
  /** From the start of the request to the release of its permit. Milliseconds. */
  readonly tookMs?: number
  readonly keyId?: string
  readonly body?: NonNullable<DecisionResult['body']>
  readonly usage?: NonNullable<DecisionResult['usage']>
}

/** The signed head of the chain: signs `politely-evidence 1 CHAIN SEQ PREV` of this record. */
export interface HeadRecord extends RecordBase {
  readonly kind: 'head'
  /** The public key, an Ed25519 JWK. */
  readonly key: { readonly kty: string; readonly crv: string; readonly x: string }
  /** The thumbprint of the key (RFC 7638). */
  readonly keyId: string
  /** In base64url. */
  readonly signature: string
}

/** Records are missing here, since they could not be written. */
export interface GapRecord extends RecordBase {
  readonly kind: 'gap'
  readonly lost: number
  /** When the first of them was lost, in ISO 8601. */
  readonly since: string
  readonly error: string
}

/** The last record of a chain that was closed. */
export interface EndRecord extends RecordBase {
  readonly kind: 'end'
}

/** One line of evidence: a union by `kind`. */
export type EvidenceRecord =
  | StartRecord
  | FileRecord
  | DecisionRecord
  | ResultRecord
  | HeadRecord
  | GapRecord
  | EndRecord
