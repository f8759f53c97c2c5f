// Loaded into the example before it starts: tells the test when each request leaves the gate.
import { subscribe } from 'node:diagnostics_channel'

/** As much of the gate's message as the test looks at. */
export interface RequestStart {
  readonly url: string
  /** Milliseconds. */
  readonly at: number
}

subscribe('politely:gate:start', (message) => {
  const { url, at } = message as RequestStart
  process.send?.({ url, at } satisfies RequestStart)
})
