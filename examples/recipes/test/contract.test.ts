// What every adapter has to do, done by each of these recipes.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import type { PoliteGate } from '@politely/gate'
import { adapterCasesFor, playAdapter, type Visit } from '@politely/testkit'
import type { CrawlerOptions } from 'crawler'
import { describe, expect, test } from 'vitest'
import { politeAxios } from '../axios.ts'
import { politeGlobalFetch } from '../global-fetch.ts'
import { politeGot } from '../got.ts'
import { politeKy } from '../ky.ts'
import { politeLoading } from '../langchain.ts'
import { politeCrawler } from '../node-crawler.ts'
import { openGate, seen } from './kit.ts'

type Get = (url: string, signal: AbortSignal) => Promise<number>

interface Recipe {
  readonly name: string
  open(gate: PoliteGate): { readonly get: Get; readonly close?: () => Promise<void> }
}

const recipes: readonly Recipe[] = [
  {
    name: 'got',
    open(gate) {
      const got = politeGot(gate)
      return { get: async (url, signal) => (await got(url, { signal })).statusCode }
    },
  },
  {
    name: 'axios',
    open(gate) {
      const axios = politeAxios(gate)
      return { get: async (url, signal) => (await axios.get(url, { signal })).status }
    },
  },
  {
    name: 'ky',
    open(gate) {
      const ky = politeKy(gate)
      return { get: async (url, signal) => (await ky(url, { signal })).status }
    },
  },
  {
    name: 'built-in fetch, global dispatcher',
    open(gate) {
      const close = politeGlobalFetch(gate)
      const get: Get = async (url, signal) => {
        const response = await fetch(url, { signal })
        await response.text()
        return response.status
      }
      return { get, close }
    },
  },
  {
    name: 'node-crawler',
    open(gate) {
      const crawler = politeCrawler(gate, { jQuery: false, silence: true })
      const get: Get = (url, signal) =>
        new Promise((resolve, reject) => {
          const callback: CrawlerOptions['callback'] = (error, response, done) => {
            done()
            if (error) reject(error)
            else resolve(response.statusCode)
          }
          crawler.add({ url, signal, callback })
        })
      return { get }
    },
  },
  {
    name: 'LangChain web loaders',
    open(gate) {
      const close = politeGlobalFetch(gate)
      const get: Get = async (url) => {
        const [document] = await new CheerioWebBaseLoader(url, politeLoading).load()
        return document?.metadata['title'] === 'a page' ? 200 : 0 // a loader does not tell the status
      }
      return { get, close }
    },
  },
]

describe.each(recipes)('$name', ({ name, open }) => {
  test.each(adapterCasesFor(name))('$capability: $name', async (row) => {
    const outcome = await playAdapter(row, (settings) => {
      const own = openGate(settings)
      const { get, close } = open(own.gate)
      return {
        visit: (url, signal): Promise<Visit> => seen(get(url, signal)),
        async close() {
          await own.close()
          await close?.()
        },
      }
    })
    expect(outcome).toEqual(row.expected)
  })
})
