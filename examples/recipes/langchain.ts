// LangChain's web loaders call the global fetch, which politeGlobalFetch makes polite. They also
// need the options below.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap'
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { runDemo } from './demo.ts'
import { politeGlobalFetch } from './global-fetch.ts'

/** Options for every loader, in addition to your own. */
export const politeLoaderOptions: PoliteLoaderOptions = {
  // The longest possible timeout, because a loader's timeout includes the wait in the gate's queue.
  // For a sitemap, it starts for all pages at the same time.
  timeout: 2 ** 31 - 1,
  // Does not retry pages that robots.txt disallows, nor timeouts. All other errors are retried.
  onFailedAttempt(error) {
    const isRefused = error instanceof RobotsDisallowedError || error.cause instanceof RobotsDisallowedError
    if (isRefused || error.name === 'TimeoutError') throw error
  },
}

interface PoliteLoaderOptions {
  readonly timeout: number
  readonly onFailedAttempt: (error: Error) => void
}

/** Skips pages that robots.txt disallows. Without that, one such page makes the whole load fail. */
export class PoliteSitemapLoader extends SitemapLoader {
  readonly #gate: PoliteGate

  constructor(url: string, gate: PoliteGate, params: ConstructorParameters<typeof SitemapLoader>[1] = {}) {
    super(url, { ...politeLoaderOptions, ...params })
    this.#gate = gate
  }

  override async parseSitemap(): ReturnType<SitemapLoader['parseSitemap']> {
    const pages = await super.parseSitemap()
    const verdicts = await Promise.all(pages.map(({ loc }) => this.#gate.robots.check(loc)))
    return pages.filter((_, i) => verdicts[i]?.allowed)
  }
}

if (import.meta.main) {
  await runDemo((gate) => ({
    close: politeGlobalFetch(gate),
    fetchPage: async (url) => {
      const [page] = await new CheerioWebBaseLoader(url, politeLoaderOptions).load()
      return page?.pageContent ?? 'nothing'
    },
  }))
}
