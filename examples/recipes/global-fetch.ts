// The built-in fetch and undici: makes all their requests in this process polite. Libraries that
// use them need no change.
import type { PoliteGate } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { runDemo } from './demo.ts'

/**
 * Installs a polite global dispatcher. The returned function restores the previous one and aborts
 * pending requests, because a body that is never read would never end.
 */
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
  await runDemo((gate) => ({
    close: politeGlobalFetch(gate),
    fetchPage: async (url) => {
      const response = await fetch(url)
      await response.body?.cancel() // releases the permit, which otherwise happens at the end of the body
      return response.status
    },
  }))
}
