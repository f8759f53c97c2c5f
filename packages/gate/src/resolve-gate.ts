// Returns the caller's gate, or creates a gate and its RobotsClient from options.
import { OptionError } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/abort-listeners'
import { PoliteGate } from './gate.ts'
import { type PacingOptions, pacingOptionsIn, withoutPacing } from './pacing.ts'

/** An existing gate, or the options of a new gate and its RobotsClient. */
export type GateOrOptions = { readonly gate: PoliteGate } | (RobotsClientOptions & PacingOptions)

export interface GateHandle {
  readonly gate: PoliteGate
  /** Closes the gate and the RobotsClient that `resolveGate` created. Does nothing if the caller supplied the gate. */
  readonly close: () => Promise<void>
}

/**
 * Returns the caller's gate, or creates one. For functions that accept either, such as `politely`.
 * @throws {OptionError} for an invalid or unknown option, and for any option beside `gate`.
 */
export function resolveGate(options: GateOrOptions): GateHandle {
  if ('gate' in options) {
    const { gate, ...others } = options
    if (!(gate instanceof PoliteGate))
      throw new OptionError('gate', 'must be a PoliteGate; write new PoliteGate({ robots })')
    for (const name of Object.keys(others))
      throw new OptionError(name, 'has no effect beside `gate`; pass it to the gate or its RobotsClient')
    return { gate, close: async () => undefined }
  }
  const robotsOptions = withoutPacing(options)
  const { now, signal, lookup } = robotsOptions
  const robots = new RobotsClient(robotsOptions)
  const gate = new PoliteGate({ robots, ...pacingOptionsIn(options), lookup, ...(now && { now }) })
  // The signal also closes the RobotsClient, without which requests that wait cannot start.
  const removeListener = signal && onAbort(signal, () => gate.close())
  const close = async () => {
    removeListener?.()
    gate.close()
    await robots.close()
  }
  return { gate, close }
}
