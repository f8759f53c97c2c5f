// LangChain's web loaders call the global fetch.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { RobotsDisallowedError } from '@politely/gate'
import { politeGlobalFetch } from './global-fetch.ts'
import { showOnSmallWeb } from './small-web.ts'

interface PoliteLoading {
  readonly timeout: number
  readonly onFailedAttempt: (error: Error) => void
}

/** For each loader, beside what you say yourself. A refusal is no mishap, and what has run out of time has no more; all else is retried. */
export const politeLoading: PoliteLoading = {
  timeout: 0, // it would count the wait for the turn, for all pages of a sitemap from the same moment on
  onFailedAttempt(error) {
    if (error.cause instanceof RobotsDisallowedError || error.name === 'TimeoutError') throw error
  },
}

if (import.meta.main) {
  await showOnSmallWeb((gate) => ({
    close: politeGlobalFetch(gate),
    visit: async (url) => {
      const [page] = await new CheerioWebBaseLoader(url, politeLoading).load()
      return page?.pageContent ?? 'nothing'
    },
  }))
}
