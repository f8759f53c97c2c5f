// A site for tests that sends a 103 (Early Hints, RFC 8297) before its page. It uses TLS, with
// HTTP/2 if the client supports it, else HTTP/1.1.
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { selfSigned } from '../servers/self-signed.ts'
import { htmlPage } from '../servers/small-pages.ts'

export interface EarlyHintsSite {
  readonly url: string
  /** The paths of all requests, in order. */
  readonly requestedPaths: readonly string[]
  close(): Promise<void>
}

/**
 * Starts a site whose page is at `/open`. The 103 names `hintedPath` as a preload. Over HTTP/2 the
 * page is sent once that path was requested, or after five seconds: on a busy machine Chromium
 * sometimes ignores the 103. The page requests `/last`.
 */
export async function startEarlyHintsSite(hintedPath: string): Promise<EarlyHintsSite> {
  const requestedPaths: string[] = []
  const hinted = Promise.withResolvers<void>()
  const page = htmlPage("<script>fetch('/last')</script>")
  const server = createSecureServer({ ...selfSigned('localhost'), allowHTTP1: true }, async (request, response) => {
    const path = request.url
    requestedPaths.push(path)
    if (path === hintedPath) hinted.resolve()
    if (path !== '/open') {
      response.writeHead(404).end()
      return
    }
    response.writeEarlyHints({ link: `<${hintedPath}>; rel=preload; as=style` })
    if (request.httpVersionMajor === 2) await Promise.race([hinted.promise, sleep(5_000, undefined, { ref: false })])
    response.writeHead(page.status, { 'content-type': 'text/html' }).end(page.body ?? '')
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined) // the browser may reset connections
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => session.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/open`,
    requestedPaths,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
