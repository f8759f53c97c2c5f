// Calls each recipe as its users do: returns the status of a page, or throws the library's error.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import type { PoliteGate } from '@politely/gate'
import type { CrawlerOptions } from 'crawler'
import { politeAxios } from '../axios.ts'
import { politeGlobalFetch } from '../global-fetch.ts'
import { politeGot } from '../got.ts'
import { politeKy } from '../ky.ts'
import { politeLoaderOptions } from '../langchain.ts'
import { politeCrawler } from '../node-crawler.ts'

export interface Recipe {
  /** The name of its row in adapter-cases. */
  readonly name: string
  /** Whether the library retries failed requests. */
  readonly retries: boolean
  open(gate: PoliteGate): OpenRecipe
}

export interface OpenRecipe {
  /** @param options.retries Default: the library's default. */
  get(url: string, options?: { readonly signal?: AbortSignal; readonly retries?: number }): Promise<number>
  close?(): Promise<void>
}

export const recipes: readonly Recipe[] = [
  {
    name: 'got',
    retries: true,
    open(gate) {
      const got = politeGot(gate)
      return {
        get: async (url, { signal, retries: limit } = {}) =>
          (await got(url, { ...(signal && { signal }), ...(limit !== undefined && { retry: { limit } }) })).statusCode,
      }
    },
  },
  {
    name: 'axios',
    retries: false,
    open(gate) {
      const axios = politeAxios(gate)
      return { get: async (url, { signal } = {}) => (await axios.get(url, { ...(signal && { signal }) })).status }
    },
  },
  {
    name: 'ky',
    retries: true,
    open(gate) {
      const ky = politeKy(gate)
      return {
        get: async (url, { signal, retries: retry } = {}) =>
          (await ky(url, { ...(signal && { signal }), ...(retry !== undefined && { retry }) })).status,
      }
    },
  },
  {
    name: 'built-in fetch, global dispatcher',
    retries: false,
    open(gate) {
      const close = politeGlobalFetch(gate)
      return {
        close,
        get: async (url, { signal } = {}) => {
          const response = await fetch(url, { ...(signal && { signal }) })
          await response.text()
          return response.status
        },
      }
    },
  },
  {
    name: 'node-crawler',
    retries: true,
    open(gate) {
      const crawler = politeCrawler(gate, { jQuery: false, silence: true, retryInterval: 1 })
      return {
        get: (url, options = {}) =>
          new Promise((resolve, reject) => {
            const callback: CrawlerOptions['callback'] = (error, response, done) => {
              done()
              if (error) reject(error)
              else resolve(response.statusCode)
            }
            crawler.add({ url, ...options, callback })
          }),
      }
    },
  },
  {
    name: 'LangChain web loaders',
    retries: true,
    open(gate) {
      const close = politeGlobalFetch(gate)
      return {
        close,
        get: async (url, { retries: maxRetries } = {}) => {
          const options = { ...politeLoaderOptions, ...(maxRetries !== undefined && { maxRetries }) }
          const [document] = await new CheerioWebBaseLoader(url, options).load()
          return document?.metadata.title === 'a page' ? 200 : 0 // a loader does not return the status
        },
      }
    },
  },
]
