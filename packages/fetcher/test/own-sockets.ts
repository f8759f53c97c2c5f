// The sockets that this process opens, as Node reports them, independent of the client under test.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface OwnSockets {
  /** All sockets opened since, without the sockets that servers accepted. */
  readonly opened: readonly Socket[]
  /** The addresses that they tried to connect to, in order. */
  readonly addresses: readonly string[]
  /** The ports that they tried to connect to, in order. */
  readonly ports: readonly number[]
}

/** Records sockets until the test ends. */
export function watchOwnSockets(): OwnSockets {
  const opened: Socket[] = []
  const addresses: string[] = []
  const ports: number[] = []
  const note = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    opened.push(socket)
    socket.on('connectionAttempt', (address, port) => {
      addresses.push(address)
      ports.push(port)
    })
  }
  subscribe('net.client.socket', note)
  onTestFinished(() => void unsubscribe('net.client.socket', note))
  return { opened, addresses, ports }
}
