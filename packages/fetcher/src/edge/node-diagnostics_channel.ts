// What the package uses of node:diagnostics_channel. A runtime without it has no subscribers.
import type * as Channels from 'node:diagnostics_channel'

const builtIn = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel') as typeof Channels | undefined

const UNUSED = { hasSubscribers: false }
const NO_CHANNEL = { start: UNUSED, end: UNUSED, asyncStart: UNUSED, asyncEnd: UNUSED, error: UNUSED }

export const tracingChannel: unknown = builtIn?.tracingChannel ?? (() => NO_CHANNEL)
