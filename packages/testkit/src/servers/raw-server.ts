// A TCP server, for servers that misbehave before they have read a request.
import { type AddressInfo, createServer } from 'node:net'
import type { Behaviour } from './sites.ts'

export interface RawServer {
  readonly port: number
  /** Resolves with the first connection. */
  readonly connected: Promise<void>
  close(): Promise<void>
}

/** Starts a server that calls `accept` with every new connection. */
export async function startRawServer(accept: Behaviour): Promise<RawServer> {
  const open = new Set<Parameters<Behaviour>[0]>()
  const first = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    first.resolve()
    open.add(socket)
    socket.once('close', () => open.delete(socket)).on('error', () => undefined)
    accept(socket)
    socket.resume() // without reading, the end of the client would never be reported
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connected: first.promise,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
