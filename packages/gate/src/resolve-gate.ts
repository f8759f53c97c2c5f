// A gate that the caller gave, or one that is made, with its RobotsClient, of options.
import { OptionError } from '@politely/core'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/abort-listeners'
import { PoliteGate } from './gate.ts'
import { type PacingOptions, pacingOptionsIn, withoutPacing } from './pacing.ts'

/** A gate of your own, or what to make one of. */
export type GateOrOptions = { readonly gate: PoliteGate } | (RobotsClientOptions & PacingOptions)

export interface GateHandle {
  readonly gate: PoliteGate
  /** Ends what was made here, and nothing that was given. */
  readonly close: () => Promise<void>
}

/**
 * For whatever wraps a gate: takes the caller's, or makes one.
 *
 * @throws {OptionError} for an option that cannot be used.
 */
export function resolveGate(options: GateOrOptions): GateHandle {
  if ('gate' in options) {
    const { gate, ...others } = options
    if (!(gate instanceof PoliteGate))
      throw new OptionError('gate', 'must be a PoliteGate; write new PoliteGate({ robots })')
    for (const name of Object.keys(others))
      throw new OptionError(name, 'does nothing beside gate; give it to the gate or its RobotsClient')
    return { gate, close: async () => undefined }
  }
  const forRobots = withoutPacing(options)
  const { now, signal, lookup } = forRobots
  const robots = new RobotsClient(forRobots)
  const gate = new PoliteGate({ robots, ...pacingOptionsIn(options), lookup, ...(now && { now }) })
  // The signal closes the RobotsClient too, which requests that wait at the gate depend on.
  const unlisten = signal && onAbort(signal, () => gate.close())
  const close = async () => {
    unlisten?.()
    gate.close()
    await robots.close()
  }
  return { gate, close }
}
