// What the gate says about requests.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { PoliteGate, StartMessage } from '@politely/gate'

/** Listens to the starts of requests of this gate, until it is disposed. */
export function listenToStarts(gate: PoliteGate): Disposable & { last(): StartMessage | undefined } {
  let last: StartMessage | undefined
  const listener = (message: unknown) => {
    if ((message as StartMessage).gate === gate) last = message as StartMessage
  }
  subscribe('politely:gate:start', listener)
  return { last: () => last, [Symbol.dispose]: () => unsubscribe('politely:gate:start', listener) }
}
