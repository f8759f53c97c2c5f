// The option `evidence`: what is decided, and what became of it, for a sink that keeps it.
// `@politely/evidence` has sinks, and the form of the records that they write.
import type { Dialect } from '@politely/core'
import type { AccessPolicy, Delay, Entry, Headers } from '@politely/core/engine'
import type { ClientVerdict } from './client-verdict.ts'

/**
 * Keeps each decision about a URL, and what became of the request: the option `evidence` of a
 * RobotsClient, a gate and `politely`. `evidenceFiles` of `@politely/evidence` creates one. The
 * caller closes it.
 */
export interface EvidenceSink {
  /**
   * Called with each decision. Its request, if there is one, waits for `written` of the receipt.
   * @throws an error instead of which nothing is decided: the check rejects with it, and no request
   * is sent.
   */
  decided(decision: Decision): DecisionReceipt
  /** Called when more is known of a decision, possibly more than once. Must not throw. */
  ended(result: DecisionResult): void
}

/** What a sink returns for a decision. */
export interface DecisionReceipt {
  /** Names the decision, for its result. */
  readonly id: string
  /** Resolves when the decision is kept as safely as its sink promises. Undefined if it is. */
  readonly written?: Promise<void> | undefined
}

/** A decision about one URL, with everything that it depends on. */
export interface Decision {
  /**
   * What the URL was asked for: a `request` through a gate, which may refuse it; a `stored-page` of
   * a cache, without a request; or a `check` alone.
   */
  readonly use: 'request' | 'stored-page' | 'check'
  /** The time of the decision, by the client's clock. Milliseconds since 1970. */
  readonly at: number
  /** The URL as the caller wrote it may have credentials. */
  readonly verdict: ClientVerdict
  /** The URLs that led to this one. */
  readonly redirectedFrom: readonly string[]
  /** What was known of the origin; its `copy` is the robots.txt. Undefined for an invalid URL. */
  readonly entry: Entry | undefined
  /**
   * The headers of the response that decided, if this client has received it. They may have cookies.
   */
  readonly headers: Headers | undefined
  /** The same object for all decisions of a client. */
  readonly client: DecidingClient
  /** The option `obey`, if the gate lets the request start although robots.txt disallows it. */
  readonly obey?: { readonly rules: boolean; readonly delays: boolean } | undefined
  /** The option `maxAgeMs` of the check. Milliseconds. */
  readonly maxAgeMs?: number | undefined
  /** The earlier decision about the same request, if robots.txt has changed while it waited. */
  readonly replaces?: string | undefined
}

/** The options of a client on which its verdicts depend. */
export interface DecidingClient {
  readonly userAgent: string
  readonly productTokens: readonly string[]
  readonly dialect: Dialect
  readonly policy: AccessPolicy
  /** The size limit of a robots.txt. Bytes. */
  readonly maxBodyBytes: number
}

/** What became of a decision. A sink may get several results of one decision, which add up. */
export interface DecisionResult {
  /** From the receipt of the decision. */
  readonly id: string
  /** By the gate's clock. Milliseconds since 1970. */
  readonly at: number
  /**
   * - `answered`: a response has arrived.
   * - `failed`: the request got no response, or was not sent although it had its permit.
   * - `not-reported`: the request has ended, and its sender did not say how.
   * - `not-sent`: the request was given up before it had its permit.
   * - `stored-page`: a cache answered it.
   * - `noted`: something more is known of a request whose end was told before.
   */
  readonly outcome: 'answered' | 'failed' | 'not-reported' | 'not-sent' | 'stored-page' | 'noted'
  /** Why it failed or was not sent: the error. */
  readonly error?: unknown
  readonly status?: number | undefined
  /** How the request got its permit. */
  readonly permit?:
    | {
        /** When it could start, by the gate's clock. Milliseconds since 1970. */
        readonly at: number
        /** How long it waited in its queue. Milliseconds. */
        readonly waitedMs: number
        /** What it waited for last: see `Permit.waitedFor`. */
        readonly waitedFor: string
        readonly waitedLevel: string | undefined
        /** The pace key. */
        readonly key: string
        /** The delay until the next request of the key, and its reason. */
        readonly delay: Delay
      }
    | undefined
  /** From the start of the request to the release of its permit. Milliseconds. */
  readonly tookMs?: number | undefined
  /** The key that signed the request (RFC 9421 §2.3). */
  readonly keyId?: string | undefined
  /** The body of the response, if the caller has noted it. */
  readonly body?: { readonly sha256: string; readonly bytes: number } | undefined
  /** What may be done with the page, by purpose, if `usage` was asked. */
  readonly usage?: Readonly<Record<string, string>> | undefined
}
