// The built-in fetch, and undici, of a whole process: libraries that call them need to know nothing of it.
import { type PoliteGate, politeAgent } from '@politely/gate'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { showOnSmallWeb } from './small-web.ts'

/** Call what is returned to have the dispatcher back that there was. It ends what is under way: a body that nobody reads has no end. */
export function politeGlobalFetch(gate: PoliteGate): () => Promise<void> {
  const before = getGlobalDispatcher()
  const agent = politeAgent({ gate })
  setGlobalDispatcher(agent)
  return async () => {
    setGlobalDispatcher(before)
    await agent.destroy()
  }
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => ({
    close: politeGlobalFetch(gate),
    visit: async (url) => {
      const response = await fetch(url)
      await response.body?.cancel() // its place is given back when the response ends
      return response.status
    },
  }))
}
