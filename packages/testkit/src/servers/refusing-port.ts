// A port that refuses connections, and that the system gives to no other server in the meantime.
import { type AddressInfo, connect, createServer } from 'node:net'

export interface RefusingPort {
  readonly port: number
  close(): Promise<void>
}

/**
 * Holds the client port of a connection on 127.0.0.1. No server listens there, and the system does
 * not give the port to another process. A port that was only just closed could be reused at any
 * time.
 */
export async function holdRefusingPort(): Promise<RefusingPort> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const [far, near] = await Promise.all([
    new Promise<{ destroy(): void }>((resolve) => server.once('connection', resolve)),
    new Promise<ReturnType<typeof connect>>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket))
    }),
  ])
  return {
    port: (near.address() as AddressInfo).port,
    close: () => {
      near.destroy()
      far.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
