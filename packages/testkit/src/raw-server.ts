// A server of octets, which can misbehave before a request has come.
import { type AddressInfo, createServer } from 'node:net'
import type { Behaviour } from './sites.ts'

export interface RawServer {
  readonly port: number
  close(): Promise<void>
}

/** Does with every connection what it is told, as soon as it is made. */
export async function startRawServer(accept: Behaviour): Promise<RawServer> {
  const open = new Set<Parameters<Behaviour>[0]>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket)).on('error', () => undefined)
    accept(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
