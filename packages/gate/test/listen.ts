// What one gate tells on a channel; several may speak on it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { GateMessages, PoliteGate } from '../src/index.ts'

/** Returns the end of it. */
export function listenTo<N extends keyof GateMessages>(
  name: N,
  gate: PoliteGate,
  hear: (message: GateMessages[N]) => void,
): () => void {
  const listener = (message: unknown) => {
    const told = message as GateMessages[N]
    if (told.gate === gate) hear(told)
  }
  subscribe(name, listener)
  return () => unsubscribe(name, listener)
}
