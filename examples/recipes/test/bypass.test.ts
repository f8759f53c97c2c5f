// Options of a single call that would bypass the gate are rejected, and no request is made.
import { Agent, request as nodeRequest } from 'node:http'
import type { PoliteGate } from '@politely/gate'
import { expect, test } from 'vitest'
import { politeAxios } from '../axios.ts'
import { politeGot } from '../got.ts'
import { politeCrawler } from '../node-crawler.ts'
import { HOME, openTestWeb } from './test-web.ts'

const crawler = (gate: PoliteGate) => politeCrawler(gate, { jQuery: false, silence: true, retries: 0 })

test.each<[call: string, option: string, (gate: PoliteGate, url: string) => Promise<unknown>]>([
  ['got, agent', 'agent', (gate, url) => politeGot(gate)(url, { agent: { http: new Agent() } })],
  ['got, agent: false', 'agent', (gate, url) => politeGot(gate)(url, { agent: { http: false } })],
  ['got, http2', 'http2', (gate, url) => politeGot(gate)(url, { http2: true })],
  ['got, request', 'request', (gate, url) => politeGot(gate)(url, { request: nodeRequest as never })],
  [
    'got, agent of an extended instance',
    'agent',
    (gate, url) => politeGot(gate).extend({ agent: { http: new Agent() } })(url),
  ],
  ['axios, adapter: http', 'adapter', (gate, url) => politeAxios(gate).get(url, { adapter: 'http' })],
  ['axios, a list of adapters', 'adapter', (gate, url) => politeAxios(gate).get(url, { adapter: ['http', 'fetch'] })],
  ['axios, env', 'env.fetch', (gate, url) => politeAxios(gate).get(url, { env: { fetch: globalThis.fetch } })],
  ['node-crawler, agent', 'agent', (gate, url) => crawler(gate).send({ url, agent: { http: new Agent() } } as never)],
  ['node-crawler, http2', 'http2', (gate, url) => crawler(gate).send({ url, http2: true })],
])('%s: rejects the call with an error that names %s', async (_, option, call) => {
  const { sites, gate } = await openTestWeb()
  await expect(call(gate, sites.withPort(`${HOME}/private`))).rejects.toThrow(`${option}:`)
  expect(sites.requestedUrls).toEqual([])
})
