// Libraries that call the global fetch and can't be given another, such as LangChain's web loaders.
// Their requests are polite inside of one function. All others stay as they are.
import { AsyncLocalStorage } from 'node:async_hooks'
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { politely } from '@politely/gate'
import { runDemo } from './demo.ts'
import { politeLoaderOptions } from './langchain.ts'

type Fetch = typeof globalThis.fetch

const scope = new AsyncLocalStorage<Fetch | undefined>()
let openScopes = 0
let restore: () => void

/**
 * Calls a function. Until its promise settles, `globalThis.fetch` is `polite` for the function and what
 * it calls, also later: the async context tells these calls from all others of the process.
 */
export async function withPoliteFetch<T>(polite: Fetch, work: () => Promise<T>): Promise<T> {
  if (openScopes++ === 0) {
    const before = globalThis.fetch
    const scopedFetch: Fetch = (...args) => {
      const politeFetch = scope.getStore()
      // `polite` itself may call the global fetch.
      return politeFetch ? scope.run(undefined, politeFetch, ...args) : before(...args)
    }
    globalThis.fetch = scopedFetch
    // If other code has replaced it meanwhile, it stays: without a scope, scopedFetch is the fetch of before.
    restore = () => {
      if (globalThis.fetch === scopedFetch) globalThis.fetch = before
    }
  }
  try {
    return await scope.run(polite, work)
  } finally {
    if (--openScopes === 0) restore()
  }
}

if (import.meta.main) {
  await runDemo((gate) => {
    const polite = politely(fetch, { gate })
    return {
      fetchPage: async (url) => {
        const loader = new CheerioWebBaseLoader(url, politeLoaderOptions)
        const [page] = await withPoliteFetch(polite, () => loader.load())
        return page?.pageContent ?? 'nothing'
      },
    }
  })
}
