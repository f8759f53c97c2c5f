// A server on loopback for the cases of sitemaps. Its two hosts are 127.0.0.1 and localhost.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response. The status is 200, and the content type `application/xml`, unless it says otherwise. */
export interface SitemapReply {
  readonly status?: number
  /** An empty content type: the response has none. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Ends the connection after the body, which the response says is longer. */
  readonly isCut?: boolean
}

export interface SitemapSite extends AsyncDisposable {
  readonly origin: string
  /** Another host, with the same responses. */
  readonly otherOrigin: string
  /** The paths that were requested, in order, with the headers. */
  readonly requests: { readonly path: string; readonly headers: NodeJS.Dict<string | string[]> }[]
  respond(replies: Readonly<Record<string, SitemapReply>>): void
}

/** Starts a server without pages. Each other path is a 404. */
export async function startSitemapSite(): Promise<SitemapSite> {
  let replies: Readonly<Record<string, SitemapReply>> = {}
  const requests: SitemapSite['requests'] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers })
    const reply = replies[path] ?? { status: 404, body: 'not found', type: 'text/plain' }
    const body = Buffer.from(reply.body ?? '')
    const type = reply.type ?? 'application/xml'
    response.writeHead(reply.status ?? 200, {
      ...(type !== '' && { 'content-type': type }),
      'content-length': String(body.length + (reply.isCut ? 1_000 : 0)),
      ...reply.headers,
    })
    if (reply.isCut) response.write(body, () => setImmediate(() => response.destroy()))
    else response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    otherOrigin: `http://localhost:${port}`,
    requests,
    respond: (all) => {
      replies = all
      requests.length = 0
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
