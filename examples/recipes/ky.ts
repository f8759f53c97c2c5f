// ky: its `fetch` option is a polite fetch. The hook `beforeRequest` is not enough, because it does
// not see the hops of a redirect.
import { type PoliteGate, politely } from '@politely/gate'
import ky, { type KyInstance } from 'ky'
import { runDemo } from './demo.ts'

export function politeKy(gate: PoliteGate): KyInstance {
  // ky's timeout would include the wait in the gate's queue. Node's fetch has its own timeouts for
  // the request.
  return ky.create({ fetch: politely(globalThis.fetch, { gate }), timeout: false })
}

if (import.meta.main) {
  await runDemo((gate) => {
    const client = politeKy(gate)
    return { fetchPage: async (url) => (await client(url)).status }
  })
}
