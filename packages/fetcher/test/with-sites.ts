// A test with servers and clients of its own, all of them closed when it ends.
import { lookupIn } from '@politely/testkit/lookup'
import { type Sites, startSites } from '@politely/testkit/sites'
import { test as plainTest, type TestAPI } from 'vitest'
import { RobotsClient, type RobotsClientOptions } from '../src/index.ts'

interface Fixtures {
  readonly sites: Sites
  /** A client that finds `*.test` on loopback, asks no network, and makes every request once unless `retries` says more. */
  readonly newClient: (options?: Partial<RobotsClientOptions>) => RobotsClient
}

export const test: TestAPI<Fixtures> = plainTest.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  newClient: async ({}, use) => {
    const clients: RobotsClient[] = []
    await use((options) => {
      // Where others make the connections, they look up the names.
      const lookup = options?.dispatcher === undefined && options?.fetch === undefined && { lookup: lookupIn() }
      const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', ...lookup, retries: 0, ...options })
      clients.push(client)
      return client
    })
    await Promise.all(clients.map((client) => client.close()))
  },
  // Made after the clients, and so closed before them: a client that cannot end by itself loses its connections.
  sites: async ({ newClient: _ }, use) => {
    const sites = await startSites()
    await use(sites)
    await sites.close()
  },
})
