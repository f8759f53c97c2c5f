// The messages that a gate publishes on channels of `node:diagnostics_channel`. A message is built
// only if its channel has a subscriber.
import { channel } from 'node:diagnostics_channel'
import type { Delay } from '@politely/core/engine'
import type { ClientVerdict } from '@politely/fetcher'
import type { CircuitReport } from '../pace/pacer.ts'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'
import type { GateCounters, GateCounts } from './counters.ts'
import type { GateGauges } from './gauges.ts'
import type { QueueState } from './queue-state.ts'

/** The gate that publishes a message, a `PoliteGate`: what it reports of itself. */
export interface ReportingGate {
  readonly counters: GateCounters
  readonly gauges: GateGauges
  queues(): readonly QueueState[]
}

/** What is needed to count an event of a gate and to publish a message about it. */
export interface EventSource {
  /** Named in every message. */
  readonly gate: ReportingGate
  /** The gate's clock: milliseconds since 1970. It never goes back. */
  readonly now: () => number
  readonly counters: GateCounts
}

interface GateMessage {
  /** The gate that publishes the message. */
  readonly gate: ReportingGate
  /** Counts for `gate`. Keep this object, not the gate: it doesn't keep the gate in memory. */
  readonly counters: { snapshot(): GateCounters }
  /** Milliseconds since 1970, by the gate's clock. */
  readonly at: number
}

interface UrlMessage extends GateMessage {
  /** Without credentials (`user:password@`). */
  readonly url: string
}

/** About a request that robots.txt allows. */
interface RequestMessage extends UrlMessage {
  readonly origin: string
  /** The pace key: the origin, or what `paceBy` says. */
  readonly key: string
}

/** A request begins to wait. */
export interface WaitMessage extends RequestMessage {
  /** What the first request of the queue waits for. */
  readonly because: WaitReason | undefined
  /** The level that it waits for. */
  readonly level: WaitLevel | undefined
  /** How many requests with the same pace key wait before it. */
  readonly ahead: number
  /** Resolves just before the request starts. Rejects with the error that `enter` rejects with. */
  readonly ended: Promise<EndedWait>
}

/**
 * How the wait of a request ended that starts now.
 * @inline
 */
type EndedWait = Pick<StartMessage, 'waitedMs' | 'waitedFor' | 'waitedLevel'>

/** A request starts. */
export interface StartMessage extends RequestMessage {
  /** How long the request waited in its queue. Milliseconds. */
  readonly waitedMs: number
  /** What the request waited for last; `none` if no delay and no concurrency limit held it up. */
  readonly waitedFor: WaitReason | 'none'
  /** The level that the request waited for last. Undefined if it did not wait. */
  readonly waitedLevel: WaitLevel | undefined
  /**
   * The delay between the start of this request and the start of the next request with the same
   * pace key, and the reason for the delay.
   */
  readonly delay: Delay
}

/** A request ends. */
export interface DoneMessage extends RequestMessage {
  /** The time from the start of the request until its permit was released. Milliseconds. */
  readonly tookMs: number
  /** Undefined if no response arrived, or if the caller did not report it. */
  readonly status: number | undefined
}

/** robots.txt does not allow a request. */
export interface RefuseMessage extends UrlMessage {
  /** The reason, with the rule that decided. */
  readonly verdict: ClientVerdict
}

/**
 * A request that robots.txt allows does not start: its signal was aborted while it waited, the gate
 * was closed, the pacer failed, its wait was too long (`maxWaitMs`), its queue was full, or the budget
 * of its pace key was used up.
 */
export interface AbandonMessage extends RequestMessage {
  /** How long the request waited in its queue. Milliseconds. */
  readonly waitedMs: number
  /** The error that `enter` rejects with. */
  readonly reason: unknown
}

/** The pacer failed in a call that no waiting request depends on. */
export interface FailureMessage extends GateMessage {
  /** The pace key that the failed call was for. */
  readonly key: string
  readonly error: unknown
}

/** The circuit of an origin opens, opens again after a probe, or closes. */
export interface CircuitMessage extends GateMessage, CircuitReport {
  readonly origin: string
}

/** The type of the messages of each channel. */
export interface GateMessages {
  'politely:gate:wait': WaitMessage
  'politely:gate:start': StartMessage
  'politely:gate:done': DoneMessage
  'politely:gate:refuse': RefuseMessage
  'politely:gate:abandon': AbandonMessage
  'politely:gate:failure': FailureMessage
  'politely:gate:circuit': CircuitMessage
}

interface TypedChannel<M> {
  readonly hasSubscribers: boolean
  publish(message: M): void
}

const typedChannel = <N extends keyof GateMessages>(name: N): TypedChannel<GateMessages[N]> => channel(name)

type ShortName<N extends string> = N extends `politely:gate:${infer Short}` ? Short : never

export const channels: { readonly [N in keyof GateMessages as ShortName<N>]: TypedChannel<GateMessages[N]> } = {
  wait: typedChannel('politely:gate:wait'),
  start: typedChannel('politely:gate:start'),
  done: typedChannel('politely:gate:done'),
  refuse: typedChannel('politely:gate:refuse'),
  abandon: typedChannel('politely:gate:abandon'),
  failure: typedChannel('politely:gate:failure'),
  circuit: typedChannel('politely:gate:circuit'),
}
