// Which request a piece of code is sending, so that a gate recognises a request that comes to it a second time.
//
// A gate may stand twice on the way of one request: `politely(fetch, { gate })` around a fetch whose global dispatcher is
// `politeAgent({ gate })`. With one slot, the second turn would wait for the end of the first, for ever.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { PoliteGate } from './gate.ts'
import type { Permit, ResponseLike } from './permit.ts'

/** A pass that another one can be made of. */
export interface NestablePermit extends Permit {
  /** The request is on its connection: from now on no other gate can be on its way. */
  sent(): void
  /** Reports the answer, once. */
  applyResponse(answer: ResponseLike): void
  /** Frees the concurrency slot, although the request is not over. */
  releaseConcurrency(): void
}

/** One for the whole process, and not one for each gate: on Node 22 each slows down every promise. */
const innermost = new AsyncLocalStorage<Sending>()

/** A request that has its pass and is being sent. It ends with the headers of its answer: what follows is the caller's code. */
export class Sending {
  readonly #gate: PoliteGate
  /** Undefined after its end. Contexts live as long as the sockets that were opened in them. */
  #pass: NestablePermit | undefined
  #outer: Sending | undefined
  /** Whether the same request has come to the gate again. */
  #isUsed = false

  constructor(gate: PoliteGate, pass: NestablePermit) {
    this.#gate = gate
    this.#pass = pass
  }

  run<T>(send: () => T): T {
    this.#outer = firstOpen(innermost.getStore())
    return innermost.run(this, send)
  }

  end(): void {
    this.#pass = undefined
    this.#outer = firstOpen(this.#outer)
  }

  get outer(): Sending | undefined {
    return this.#outer
  }

  get isOpen(): boolean {
    return this.#pass !== undefined
  }

  isThrough(gate: PoliteGate): boolean {
    return this.isOpen && this.#gate === gate
  }

  /**
   * A pass for the same request, which needs no turn of its own. Undefined for another request, and for the second one for this URL, such as a
   * retry: the slot is freed, so that it can take a turn.
   */
  nestedPermit(url: string): Permit | undefined {
    const outer = this.#pass
    if (outer === undefined) return undefined
    if (this.#isUsed || withoutFragment(url) !== withoutFragment(outer.url)) {
      outer.releaseConcurrency()
      return undefined
    }
    this.#isUsed = true
    return new NestedPermit(this.#gate, outer)
  }
}

/** The request that this code is sending with a pass of this gate. */
export function sendingThrough(gate: PoliteGate): Sending | undefined {
  let sending = innermost.getStore()
  while (sending !== undefined && !sending.isThrough(gate)) sending = sending.outer
  return sending
}

function firstOpen(sending: Sending | undefined): Sending | undefined {
  let open = sending
  while (open !== undefined && !open.isOpen) open = open.outer
  return open
}

function withoutFragment(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  parsed.hash = ''
  return parsed.href
}

/** A second pass for a request that has one. It holds no slot. */
class NestedPermit implements NestablePermit {
  readonly waitedMs = 0
  readonly waitedFor = 'none'
  readonly #outer: NestablePermit
  readonly #sending: Sending

  constructor(gate: PoliteGate, outer: NestablePermit) {
    this.#outer = outer
    this.#sending = new Sending(gate, this)
  }

  get url(): Permit['url'] {
    return this.#outer.url
  }

  get verdict(): Permit['verdict'] {
    return this.#outer.verdict
  }

  get delay(): Permit['delay'] {
    return this.#outer.delay
  }

  run<T>(send: () => T): T {
    return this.#sending.run(send)
  }

  report(answer: ResponseLike): void {
    this.#sending.end()
    this.applyResponse(answer)
  }

  applyResponse(answer: ResponseLike): void {
    this.#outer.applyResponse(answer)
  }

  releaseConcurrency(): void {
    this.#outer.releaseConcurrency()
  }

  sent(): void {
    this.#sending.end()
    this.#outer.sent()
  }

  release(answer?: ResponseLike): void {
    this.#sending.end()
    if (answer !== undefined) this.applyResponse(answer)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
