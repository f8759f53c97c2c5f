// Requests for pages, by the same way as the requests for robots.txt: through the proxy of the
// command line, through a proxy that Node takes from the environment, or by connections that the
// network guard checks.
import { NetworkGuard, type RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import type { Dispatcher } from 'undici'
import type { Arguments } from '../command-line.ts'
import { errorLine } from '../output/style.ts'
import { allowedAddresses, timeoutOf, withClient } from './client.ts'
import { withOptionalStore } from './store.ts'

export type Fetch = typeof globalThis.fetch

/**
 * Opens a client with the store of the command line, and a fetch for pages. Closes them when `use`
 * is done.
 */
export async function withPages<T>(
  args: Arguments,
  use: (client: RobotsClient, fetch: Fetch) => Promise<T>,
): Promise<T> {
  return withOptionalStore(args, (store) =>
    withClientAndFetch(
      args,
      (client, fetch) => {
        client.events.on('store-failed', ({ error }) => {
          process.stderr.write(errorLine(`--store: ${error instanceof Error ? error.message : error}`))
        })
        return use(client, fetch)
      },
      { store },
    ),
  )
}

/**
 * Opens a client, and a fetch for pages. `--timeout` limits the wait for the headers of a page, and
 * for each piece of its body.
 */
export async function withClientAndFetch<T>(
  args: Arguments,
  use: (client: RobotsClient, fetch: Fetch) => Promise<T>,
  more: Partial<RobotsClientOptions> = {},
): Promise<T> {
  return withClient(
    args,
    async (client, proxy) => {
      if (proxy === undefined && !(await isOwnWay(client))) return use(client, withAuthorization(globalThis.fetch))
      const { Agent, fetch } = await import('undici')
      const ms = timeoutOf(args)
      const guard = new NetworkGuard({ allowAddresses: allowedAddresses(args) })
      const own = new Agent({ connect: guard.connector({ timeout: ms }), headersTimeout: ms, bodyTimeout: ms })
      const dispatcher: Dispatcher = proxy ?? own
      const pages = (url: string, init: object) => fetch(url, { ...init, dispatcher })
      try {
        return await use(client, withAuthorization(pages as unknown as Fetch))
      } finally {
        await own.destroy()
      }
    },
    more,
  )
}

/** Sends the credentials of a URL (`user:password@`), which fetch rejects, as a header. */
function withAuthorization(fetch: Fetch): Fetch {
  return (input, init) => {
    const url = new URL(String(input))
    const { username, password } = url
    if (username === '' && password === '') return fetch(input, init)
    url.username = ''
    url.password = ''
    const pair = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
    return fetch(url.href, { ...init, headers: [...new Headers(init?.headers), ['authorization', `Basic ${pair}`]] })
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // a "%" that encodes nothing
  }
}

/** Returns whether the client makes connections of its own: Node takes no proxy from the environment. */
async function isOwnWay(client: RobotsClient): Promise<boolean> {
  const inspection = await client.inspect('https://example.com/') // the way is the same for every URL
  return 'via' in inspection && inspection.via === 'own'
}
