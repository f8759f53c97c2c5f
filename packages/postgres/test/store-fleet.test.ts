// @module-tag full
// Workers that share a PostgresStore on a real server: each robots.txt is fetched once, though the
// server is slow and each worker has a small pool.
import { RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { noPostgresServer } from '@politely/testkit/servers/postgres'
import { startSites } from '@politely/testkit/servers/sites'
import { startTcpProxy } from '@politely/testkit/servers/tcp-proxy'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PostgresStore } from '../src/index.ts'
import { openPool, startServer } from './server.ts'

const ORIGINS = 150
const WORKERS = 4

describe.skipIf(noPostgresServer())('a fleet of four clients with pools of four connections', () => {
  test.for([100, 1_200])('fetches each robots.txt once if the network takes %i ms', async (delayMs) => {
    const server = await startServer()
    const sites = await startSites()
    onTestFinished(() => sites.close())
    const urls = Array.from({ length: ORIGINS }, (_, n) => sites.withPort(`http://n${n}.test:PORT/page`))
    for (let n = 0; n < ORIGINS; n++)
      sites.respond(`http://n${n}.test:PORT/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /page\n' })
    const proxy = await startTcpProxy(server.port)
    const url = server.url.replace(`127.0.0.1:${server.port}`, proxy.host)
    const clients = Array.from({ length: WORKERS }, () => {
      const store = new PostgresStore({ client: openPool(url, { max: 4 }) })
      const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', store, lookup: lookupIn() })
      onTestFinished(() => client.close())
      return client
    })
    proxy.delayMs = () => delayMs
    const allowed = await Promise.all(clients.flatMap((client) => urls.map((url) => client.isAllowed(url))))
    proxy.delayMs = () => 0
    expect(allowed).toEqual(Array(ORIGINS * WORKERS).fill(false))
    expect(clients.map(({ counters }) => counters.storeFailures)).toEqual(Array(WORKERS).fill(0))
    expect(sites.requestedUrls).toHaveLength(ORIGINS)
  })
})
