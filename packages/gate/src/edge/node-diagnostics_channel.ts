// What the package uses of node:diagnostics_channel. A runtime without it gets channels of this module.
import type * as Channels from 'node:diagnostics_channel'

type Listener = (message: unknown, name: string) => void

class Channel {
  readonly listeners = new Set<Listener>()
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  get hasSubscribers(): boolean {
    return this.listeners.size > 0
  }

  publish(message: unknown): void {
    for (const listener of this.listeners) listener(message, this.#name)
  }
}

const channels = new Map<string, Channel>()

function ownChannel(name: string): Channel {
  const found = channels.get(name) ?? new Channel(name)
  channels.set(name, found)
  return found
}

const builtIn = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel') as typeof Channels | undefined

export const channel: unknown = builtIn?.channel ?? ownChannel
export const subscribe: unknown =
  builtIn?.subscribe ?? ((name: string, listener: Listener) => void ownChannel(name).listeners.add(listener))
export const unsubscribe: unknown =
  builtIn?.unsubscribe ?? ((name: string, listener: Listener) => ownChannel(name).listeners.delete(listener))
