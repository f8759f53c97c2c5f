// Returns the caller's gate, or creates a gate, and its RobotsClient unless the caller has one.
import { OptionError } from '@politely/core'
import { isOfClass, otherCopyProblem } from '@politely/core/internal'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import {
  assertKnown,
  assertOptions,
  CLIENT_OPTIONS,
  clientPort,
  describeValue,
  onAbort,
} from '@politely/fetcher/internal'
import { assertRobots, PoliteGate } from '../gate.ts'
import type { PoliteGateOptions } from '../options/gate-options.ts'
import { GATE_OPTIONS, splitPacing } from '../options/pacing.ts'
import type { PacingOptions } from '../pace/pacing-options.ts'

/**
 * An existing gate; or an existing RobotsClient and the options of a new gate; or the options of a
 * new gate and its RobotsClient.
 */
export type GateOrOptions = { readonly gate: PoliteGate } | PoliteGateOptions | (RobotsClientOptions & PacingOptions)

/** A gate, and a function that closes what was created for it. `resolveGate` returns it. */
export interface GateHandle {
  readonly gate: PoliteGate
  /**
   * Closes what `resolveGate` created: the gate, and the RobotsClient if it is new. Closes nothing
   * that the caller supplied.
   */
  readonly close: () => Promise<void>
}

/**
 * Returns the caller's gate, or creates one. For functions that accept either, such as `politely`.
 * @param ownOptions The names of further options of the calling function, for the error message
 * about an unknown option.
 * @param elsewhere Names of options of another object, each with the end of its error message:
 * `is an option of …; write it in …`.
 * @param pages How the calling function requests pages: the fetch for pages, or `own` if Politely
 * makes the connections. A new RobotsClient sends its requests the same way, unless its options say
 * otherwise (`robotsVia`). Default: `globalThis.fetch`.
 * @throws {OptionError} for an invalid or unknown option, for any option next to `gate`, and for an
 * option of the RobotsClient next to `robots`.
 */
export function resolveGate(
  options: GateOrOptions,
  ownOptions: Readonly<Record<string, true>> = {},
  elsewhere: Readonly<Record<string, string>> = {},
  pages?: typeof globalThis.fetch | 'own',
): GateHandle {
  assertGateOptions(options)
  assertKnown(options, { ...CLIENT_OPTIONS, ...GATE_OPTIONS, gate: true, ...ownOptions }, elsewhere)
  if ('gate' in options) {
    const { gate, ...others } = options
    assertGate(gate)
    for (const name of Object.keys(others))
      throw new OptionError(name, 'has no effect beside `gate`; pass it to the gate or its RobotsClient')
    return { gate, close: async () => undefined }
  }
  if ('robots' in options) {
    assertRobots(options.robots)
    const misplaced = Object.keys(options).find((name) => !Object.hasOwn(GATE_OPTIONS, name))
    if (misplaced !== undefined)
      throw new OptionError(misplaced, 'has no effect beside `robots`; write it in new RobotsClient({ … })')
    const gate = new PoliteGate(options)
    return { gate, close: async () => gate.close() }
  }
  const { pacing, others } = splitPacing(options)
  const { now, signal, lookup } = others
  const robots = new RobotsClient(others)
  if (pages !== undefined) clientPort(robots).settings().way.followPages(pages)
  const gate = new PoliteGate({ robots, ...pacing, lookup, now })
  // The signal also closes the RobotsClient, without which requests that wait cannot start.
  const removeListener = signal && onAbort(signal, () => gate.close())
  const close = async () => {
    removeListener?.()
    gate.close()
    await robots.close()
  }
  return { gate, close }
}

/**
 * Checks the argument that `resolveGate` accepts, before a function takes its own options out of
 * it.
 * @throws {OptionError} for a value that is not an object, and for a gate or a RobotsClient in
 * place of options.
 */
export function assertGateOptions(options: unknown): void {
  assertOptions(options)
  if (isOfClass('PoliteGate', options))
    throw new OptionError('options', 'a PoliteGate was given instead of options; write { gate }')
  if (isOfClass('RobotsClient', options))
    throw new OptionError('options', 'a RobotsClient was given instead of options; write { robots }')
}

/** @throws {OptionError} for a value that is not a gate. */
export function assertGate(gate: unknown): asserts gate is PoliteGate {
  if (gate instanceof PoliteGate) return
  if (isOfClass('PoliteGate', (gate as { readonly gate?: unknown } | null | undefined)?.gate)) {
    const [what, write] = typeof gate === 'function' ? ['a fetch', 'fetch.gate'] : ['an object', 'agent.gate']
    throw new OptionError('gate', `${what} with a gate is not a PoliteGate; write ${write}`)
  }
  throw new OptionError(
    'gate',
    otherCopyProblem('PoliteGate', '@politely/gate', gate) ??
      `${describeValue(gate)} is not a PoliteGate; write new PoliteGate({ robots: new RobotsClient({ userAgent }) })`,
  )
}
