// What a gate tells whoever listens, on channels of node:diagnostics_channel. Nothing is built where nobody does.
import { channel } from 'node:diagnostics_channel'
import type { Delay } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { PoliteGate } from './gate.ts'
import type { WaitReason } from './queue.ts'

/** In every message. Times are milliseconds since 1970, by the gate's clock. */
interface Told {
  readonly gate: PoliteGate
  readonly at: number
  readonly url: string
}

/** Of a request that robots.txt allows. */
interface Allowed extends Told {
  readonly origin: string
  /** What it shares its pace with: the origin, or what `paceBy` says. */
  readonly key: string
}

/** A request begins to wait. */
export interface WaitMessage extends Allowed {
  /** What the first one in the queue waits for. */
  readonly because: WaitReason | undefined
  /** How many of its key wait before it. */
  readonly ahead: number
}

/** A request leaves. */
export interface StartMessage extends Allowed {
  readonly waitedMs: number
  /** What it waited for in the end; `none` where it left at once. */
  readonly waitedFor: WaitReason | 'none'
  readonly delay: Delay
}

/** A request is over. */
export interface DoneMessage extends Allowed {
  readonly tookMs: number
  /** Undefined where there was no answer, or nobody told the gate. */
  readonly status: number | undefined
}

/** Robots.txt does not allow a request. */
export interface RefuseMessage extends Told {
  readonly verdict: ClientVerdict
}

/** A request that waited does not leave: its signal was aborted, the gate was closed, or the pacer failed. */
export interface AbandonMessage extends Allowed {
  readonly waitedMs: number
  readonly reason: unknown
}

/** The pacer failed, where no request was left to fail by it. */
export interface FailureMessage {
  readonly gate: PoliteGate
  readonly at: number
  readonly key: string
  readonly error: unknown
}

/** The channels of `node:diagnostics_channel`, and what is said on each. */
export interface GateMessages {
  'politely:gate:wait': WaitMessage
  'politely:gate:start': StartMessage
  'politely:gate:done': DoneMessage
  'politely:gate:refuse': RefuseMessage
  'politely:gate:abandon': AbandonMessage
  'politely:gate:failure': FailureMessage
}

/** A channel on which messages of one kind are said. */
interface TypedChannel<M> {
  readonly hasSubscribers: boolean
  publish(message: M): void
}

const of = <N extends keyof GateMessages>(name: N): TypedChannel<GateMessages[N]> => channel(name)

type ShortName<N extends string> = N extends `politely:gate:${infer Short}` ? Short : never

export const channels: { readonly [N in keyof GateMessages as ShortName<N>]: TypedChannel<GateMessages[N]> } = {
  wait: of('politely:gate:wait'),
  start: of('politely:gate:start'),
  done: of('politely:gate:done'),
  refuse: of('politely:gate:refuse'),
  abandon: of('politely:gate:abandon'),
  failure: of('politely:gate:failure'),
}
