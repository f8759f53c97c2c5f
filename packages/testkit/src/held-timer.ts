// A timer that fires when a test says so, while all other timers run. So a deadline passes after
// the server has begun, however busy the machine is, and no test waits for it.

import { setTimeout as sleep } from 'node:timers/promises'

/** The timers of this process that are held, by their delay. */
const held = new Map<number, () => void>()

/** Each held timer has another delay, so that tests may run at the same time. */
let nextMs = 20_001

/**
 * Runs something with a time limit, in milliseconds, whose timer is held. It fires when `begun` has
 * resolved and the bytes that the server has sent by then are read; without `begun`, it never
 * fires.
 */
export async function withHeldTimer<T>(
  run: (timeoutMs: number) => Promise<T>,
  begun?: () => Promise<unknown>,
): Promise<T> {
  using timer = new HeldTimer()
  const running = run(timer.ms)
  if (begun !== undefined) {
    await begun()
    await sleep(100)
    timer.fire()
  }
  return await running
}

class HeldTimer implements Disposable {
  /**
   * The delay to give to the code under test. Its timer of exactly this delay is held.
   * Milliseconds.
   */
  readonly ms: number = nextMs++

  constructor() {
    if (held.size === 0) holdTimers()
    held.set(this.ms, () => {
      throw new Error(`no timer of ${this.ms} ms was started`)
    })
  }

  fire(): void {
    held.get(this.ms)?.()
  }

  [Symbol.dispose](): void {
    held.delete(this.ms)
    if (held.size === 0) globalThis.setTimeout = setTimeoutOfNode
  }
}

let setTimeoutOfNode = globalThis.setTimeout

function holdTimers(): void {
  setTimeoutOfNode = globalThis.setTimeout
  globalThis.setTimeout = new Proxy(setTimeoutOfNode, {
    apply: (start, self, [callback, ms, ...args]: Parameters<typeof setTimeout>) => {
      if (ms === undefined || !held.has(ms)) return Reflect.apply(start, self, [callback, ms, ...args])
      held.set(ms, () => callback(...args))
      return Reflect.apply(start, self, [() => undefined, 2 ** 31 - 1]) // what `clearTimeout` gets
    },
  })
}
