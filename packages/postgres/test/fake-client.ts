// A client of Postgres without a server. The test sees each statement, and replies to it.
import type { Delay } from '@politely/core/engine'
import { onTestFinished } from 'vitest'
import { type PostgresClient, PostgresPacer, type PostgresPacerOptions } from '../src/index.ts'

/** A request inside a statement. */
export interface FakeRequest {
  readonly op: string
  readonly key: string
  readonly slot?: number
  readonly [field: string]: unknown
}

interface FakeStatement {
  readonly requests: readonly FakeRequest[]
  /** Replies to each request as the functions do, or with `rows`. */
  reply(rows?: readonly object[]): void
  fail(error: unknown): void
}

export const DELAY_MS: number = 1_000
export const slotReply: {
  readonly epoch: number
  readonly isEpochLost: boolean
  readonly slot: number
  readonly delay: Delay
  readonly [field: string]: unknown
} = {
  kind: 'slot',
  epoch: 1_764_000_000_000.25,
  isEpochLost: false,
  slot: 1_764_000_000_000_123,
  delay: { delayMs: DELAY_MS, because: 'own-delay' },
  hasPushbacks: false,
}
const { epoch, isEpochLost } = slotReply
const REPLIES: Readonly<Record<string, object>> = {
  reserve: slotReply,
  estimate: { kind: 'estimate', epoch, isEpochLost, waitMs: 0, because: 'none' },
  report: { kind: 'pause', epoch, isEpochLost, pauseMs: 5_000, because: 'backoff' },
  circuit: { isStored: false, value: '', now: epoch },
}

/** Returns what the functions reply to a request. */
export function replyTo({ op }: FakeRequest): object {
  return REPLIES[op] ?? { kind: 'done', epoch, isEpochLost }
}

/** An error with a SQLSTATE, as `pg` and PGlite make it. */
export function stateError(code: string): Error {
  return Object.assign(new Error(`an error with the SQLSTATE ${code}`), { code })
}

/**
 * @param onStatement Called for each statement. Default: replies at once.
 */
export function fakeClient(onStatement: (statement: FakeStatement) => unknown = ({ reply }) => reply()): {
  readonly client: PostgresClient
  readonly statements: readonly FakeStatement[]
} {
  const statements: FakeStatement[] = []
  const client: PostgresClient = {
    query: (_text, [json]: unknown[] = []) => {
      const { promise, resolve, reject } = Promise.withResolvers<{ rows: readonly object[] }>()
      const requests: readonly FakeRequest[] = JSON.parse(`${json}`)
      const statement: FakeStatement = {
        requests,
        reply: (rows = [{ replies: requests.map(replyTo) }]) => resolve({ rows }),
        fail: reject,
      }
      statements.push(statement)
      onStatement(statement)
      return promise
    },
  }
  return { client, statements }
}

export function openPacer(options: PostgresPacerOptions): PostgresPacer {
  const pacer = new PostgresPacer(options)
  onTestFinished(() => pacer.close())
  return pacer
}
