// LangChain's web loaders call the global fetch, so that has to be the polite one. What else they need is here.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap'
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { politeGlobalFetch } from './global-fetch.ts'
import { showOnSmallWeb } from './small-web.ts'

/** For each loader, beside what you say yourself. */
export const politeLoading: PoliteLoading = {
  // It counts the wait for the turn, for all pages of a sitemap from the same moment on. There is no longer one.
  timeout: 2 ** 31 - 1,
  // A refusal is no mishap, and what has run out of time has no more. All else is tried again.
  onFailedAttempt(error) {
    if (error.cause instanceof RobotsDisallowedError || error.name === 'TimeoutError') throw error
  },
}

interface PoliteLoading {
  readonly timeout: number
  readonly onFailedAttempt: (error: Error) => void
}

/** Leaves out what robots.txt disallows; without that, one such page fails them all. */
export class PoliteSitemapLoader extends SitemapLoader {
  readonly #gate: PoliteGate

  constructor(url: string, gate: PoliteGate, params: ConstructorParameters<typeof SitemapLoader>[1] = {}) {
    super(url, { ...politeLoading, ...params })
    this.#gate = gate
  }

  override async parseSitemap(): ReturnType<SitemapLoader['parseSitemap']> {
    const pages = await super.parseSitemap()
    const verdicts = await Promise.all(pages.map(({ loc }) => this.#gate.robots.check(loc)))
    return pages.filter((_, i) => verdicts[i]?.allowed)
  }
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
