// Loaded into the example's process: reports to the test when the gate starts each request.
import { subscribe } from 'node:diagnostics_channel'

/** The part of the gate's message that the test uses. */
export interface RequestStart {
  readonly url: string
  /** Milliseconds. */
  readonly at: number
}

subscribe('politely:gate:start', (message) => {
  const { url, at } = message as RequestStart
  process.send?.({ url, at } satisfies RequestStart)
})
