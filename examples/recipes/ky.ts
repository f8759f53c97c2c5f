// ky: it takes a fetch, and that one is polite. `beforeRequest` does not do: it sees no redirect's hops.
import { type PoliteGate, politely } from '@politely/gate'
import ky, { type KyInstance } from 'ky'
import { showOnSmallWeb } from './small-web.ts'

export function politeKy(gate: PoliteGate): KyInstance {
  // A timeout would count the wait for the turn; Node's fetch has its own for the request.
  return ky.create({ fetch: politely(globalThis.fetch, { gate }), timeout: false })
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => {
    const client = politeKy(gate)
    return { visit: async (url) => (await client(url)).status }
  })
}
