// A vitest `test` with its own servers and clients, all closed when the test ends.
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { test as plainTest, type TestAPI } from 'vitest'
import { RobotsClient, type RobotsClientOptions } from '../src/index.ts'

interface Fixtures {
  readonly sites: Sites
  /**
   * Creates a client that resolves `*.test` to loopback, uses no network, and does not retry unless
   * `retries` is given.
   */
  readonly newClient: (options?: Partial<RobotsClientOptions>) => RobotsClient
}

export const test: TestAPI<Fixtures> = plainTest.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  newClient: async ({}, use) => {
    const clients: RobotsClient[] = []
    await use((options) => {
      // With `fetch` or `dispatcher`, the caller's transport resolves names.
      const lookup = options?.dispatcher === undefined && options?.fetch === undefined && { lookup: lookupIn() }
      const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', ...lookup, retries: 0, ...options })
      clients.push(client)
      return client
    })
    await Promise.all(clients.map((client) => client.close()))
  },
  // Created after the clients, and so closed before them: a client that would hang loses its
  // connections.
  sites: async ({ newClient: _ }, use) => {
    const sites = await startSites()
    await use(sites)
    await sites.close()
  },
})

/** Collects the values of a stream. */
export async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}
