// Subscribes to the messages of one gate. Several gates may publish on a channel.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { GateMessages, PoliteGate } from '../src/index.ts'

/** Returns a function that unsubscribes. */
export function listenTo<N extends keyof GateMessages>(
  name: N,
  gate: PoliteGate,
  onMessage: (message: GateMessages[N]) => void,
): () => void {
  const listener = (message: unknown) => {
    const gateMessage = message as GateMessages[N]
    if (gateMessage.gate === gate) onMessage(gateMessage)
  }
  subscribe(name, listener)
  return () => unsubscribe(name, listener)
}
