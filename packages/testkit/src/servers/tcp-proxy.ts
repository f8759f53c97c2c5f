// A TCP proxy in front of a server on loopback that can be slow, cut the connections, or reply with
// garbage.
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface TcpProxy {
  /** The host and the port of the proxy, such as `127.0.0.1:20000`. */
  readonly host: string
  /** The port of the server that gets new connections. */
  port: number
  /** How long each reply takes longer. Milliseconds. */
  delayMs: () => number
  /** Instead of the server's replies, the client gets this text. */
  garbage: string | undefined
  /** Ends all connections, and refuses new ones while it is set. */
  isCut: boolean
}

/** Starts a proxy that ends with its test. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const upstream = connect(proxy.port, '127.0.0.1')
    let lastAt = 0
    /** Keeps the replies in order, and the end after the last reply. */
    const afterDelay = (work: () => void) => setTimeout(work, Math.max(0, lastAt - performance.now()))
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => afterDelay(() => client.end()))
    client.on('data', (chunk) => {
      if (proxy.garbage === undefined) upstream.write(chunk)
      else client.write(proxy.garbage)
    })
    upstream.on('data', (chunk) => {
      lastAt = Math.max(lastAt, performance.now() + proxy.delayMs())
      afterDelay(() => client.writable && client.write(chunk))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  const proxy: TcpProxy = {
    host: `127.0.0.1:${(server.address() as { port: number }).port}`,
    port,
    delayMs: () => 0,
    garbage: undefined,
    get isCut() {
      return isCut
    },
    set isCut(value) {
      isCut = value
      if (value) cut()
    },
  }
  return proxy
}
