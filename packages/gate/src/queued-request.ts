// One call of `enter`: it comes, perhaps waits, and gets a pass or an error.
import type { Delay, PaceLimits, PageResponse } from '@politely/core'
import { type CheckedUrl, type ClientVerdict, registrableDomainOf } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/abort-listeners'
import type { Tally } from './counters.ts'
import { RobotsDisallowedError } from './errors.ts'
import { channels } from './events.ts'
import type { PoliteGate } from './gate.ts'
import { locationOf, pageResponseOf, type ResponseLike } from './permit.ts'
import type { KeyQueue, TakenSlot, Waiter, WaitReason } from './queue.ts'
import { type NestablePermit, Sending } from './sending.ts'

/** One about a URL, and not refused: what is no URL never is. */
export type AllowedVerdict = ClientVerdict & CheckedUrl

/** What an entrant needs of its gate. */
export interface House {
  readonly gate: PoliteGate
  readonly now: () => number
  readonly tally: Tally
  readonly wishesOf: (verdict: AllowedVerdict) => PaceLimits
  /** Checks robots.txt. @throws {RobotsDisallowedError} where it disallows the URL. */
  readonly allowed: (url: string, signal: AbortSignal | undefined) => Promise<AllowedVerdict>
  /** The same, if the verdict is known without a fetch; otherwise undefined. */
  readonly allowedNow: (url: string) => AllowedVerdict | undefined
  /** A request has started: its pause counts from now. */
  readonly departed: (key: string, slot: TakenSlot) => void
  /** An answer came for this URL; it may be a redirect. */
  readonly redirected: (url: string, status: number, location: string | null) => void
  readonly report: (key: string, slot: TakenSlot, answer: PageResponse | undefined) => void
  /** Frees the concurrency slot of a request. */
  readonly free: (queue: KeyQueue, domain: string) => void
  /** The request is over. */
  readonly over: () => void
}

export class QueuedRequest implements Waiter {
  readonly domain: string
  wishes: PaceLimits
  /** As soon as it may leave. */
  permit: GrantedPermit | undefined
  readonly #house: House
  readonly #queue: KeyQueue
  readonly #signal: AbortSignal | undefined
  readonly #start: number
  #verdict: AllowedVerdict
  #settle: { readonly resolve: (pass: GrantedPermit) => void; readonly reject: (error: unknown) => void } | undefined
  #error: { readonly error: unknown } | undefined

  constructor(house: House, verdict: AllowedVerdict, queue: KeyQueue, signal: AbortSignal | undefined) {
    this.#house = house
    this.#verdict = verdict
    this.wishes = house.wishesOf(verdict)
    this.domain = registrableDomainOf(verdict.origin)
    this.#queue = queue
    this.#signal = signal
    this.#start = house.now()
  }

  /** Stands in the queue; resolves when it may leave. */
  turn(): GrantedPermit | Promise<GrantedPermit> {
    const ahead = this.#queue.waiting
    this.#queue.join(this)
    if (this.permit !== undefined) return this.permit
    if (this.#error) return Promise.reject(this.#error.error)
    if (channels.wait.hasSubscribers) {
      channels.wait.publish({ ...this.#told(), because: this.#queue.heldBy, ahead })
    }
    return new Promise((resolve, reject) => {
      const signal = this.#signal
      let unlisten: (() => void) | undefined
      this.#settle = {
        resolve: (pass) => {
          unlisten?.()
          resolve(pass)
        },
        reject: (error) => {
          unlisten?.()
          reject(error)
        },
      }
      if (signal === undefined) return
      unlisten = onAbort(signal, () => {
        this.#queue.remove(this)
        this.fail(signal.reason)
      })
    })
  }

  recheckNow(): 'allowed' | 'refused' | 'unknown' {
    try {
      const verdict = this.#house.allowedNow(this.#verdict.url)
      if (verdict === undefined) return 'unknown'
      this.#take(verdict)
      return 'allowed'
    } catch (error) {
      this.fail(error)
      return 'refused'
    }
  }

  async recheck(): Promise<boolean> {
    try {
      this.#take(await this.#house.allowed(this.#verdict.url, this.#signal))
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  #take(verdict: AllowedVerdict): void {
    this.#verdict = verdict
    this.wishes = this.#house.wishesOf(verdict)
  }

  admit(slot: TakenSlot, heldBy: WaitReason | undefined, at: number): void {
    const waitedMs = at - this.#start
    const waitedFor = this.#settle === undefined ? 'none' : (heldBy ?? 'none')
    this.permit = new GrantedPermit(this.#house, this.#queue, slot, this.#verdict, this.domain, waitedMs, waitedFor)
    this.#settle?.resolve(this.permit)
  }

  /** Its signal was aborted after it was admitted, and before the caller had its pass. */
  withdraw(reason: unknown): void {
    this.permit?.withdraw()
    this.permit = undefined
    this.fail(reason)
  }

  /** Once is enough: what went wrong first is told. */
  fail(error: unknown): void {
    if (this.#error !== undefined || this.permit !== undefined) return
    this.#error = { error }
    if (!(error instanceof RobotsDisallowedError)) {
      this.#house.tally.abandoned++
      if (channels.abandon.hasSubscribers) {
        channels.abandon.publish({ ...this.#told(), waitedMs: this.#house.now() - this.#start, reason: error })
      }
    }
    this.#settle?.reject(error)
  }

  #told() {
    const { gate, now } = this.#house
    const { url, origin } = this.#verdict
    return { gate, at: now(), url, origin, key: this.#queue.key }
  }
}

export class GrantedPermit implements NestablePermit {
  readonly verdict: AllowedVerdict
  readonly waitedMs: number
  readonly waitedFor: WaitReason | 'none'
  readonly delay: Delay
  readonly #house: House
  readonly #queue: KeyQueue
  readonly #slot: TakenSlot
  readonly #domain: string
  readonly #sending: Sending
  #leftAt = 0
  #status: number | undefined
  #isReported = false
  #isFree = false
  #isOver = false

  constructor(
    house: House,
    queue: KeyQueue,
    slot: TakenSlot,
    verdict: AllowedVerdict,
    domain: string,
    waitedMs: number,
    waitedFor: WaitReason | 'none',
  ) {
    this.#house = house
    this.#queue = queue
    this.#slot = slot
    this.verdict = verdict
    this.#domain = domain
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor
    this.delay = slot.delay
    this.#sending = new Sending(house.gate, this)
  }

  get url(): string {
    return this.verdict.url
  }

  /** It is handed over, and the request leaves: as late as can be told from here. */
  depart(): void {
    const { gate, tally, now, departed } = this.#house
    const { waitedMs, waitedFor, delay } = this
    const at = now()
    this.#leftAt = at
    tally.started++
    if (waitedFor !== 'none') tally.waited(waitedFor, waitedMs)
    if (channels.start.hasSubscribers) {
      const { url, origin } = this.verdict
      channels.start.publish({ gate, at, url, origin, key: this.#queue.key, waitedMs, waitedFor, delay })
    }
    departed(this.#queue.key, this.#slot)
  }

  run<T>(send: () => T): T {
    return this.#sending.run(send)
  }

  sent(): void {
    this.#sending.end()
  }

  report(answer: ResponseLike): void {
    this.#sending.end()
    this.heard(answer)
  }

  /** Reports the answer, once. */
  heard(answer: ResponseLike): void {
    if (this.#isReported || this.#isOver) return
    const pageAnswer = pageResponseOf(answer) // before anything is reported: it throws for anything that is not a response
    this.#isReported = true
    this.#status = pageAnswer.status
    this.#house.redirected(this.url, pageAnswer.status, locationOf(answer))
    this.#house.report(this.#queue.key, this.#slot, pageAnswer)
  }

  release(answer?: ResponseLike): void {
    if (this.#isOver) return
    try {
      if (answer !== undefined) this.report(answer)
    } finally {
      this.#end()
    }
  }

  /** The request does not start after all. */
  withdraw(): void {
    this.#isOver = true
    this.#queue.withdrawn(this.#slot)
    this.free()
  }

  /** Frees the slot, whether or not the request is over. */
  free(): void {
    if (this.#isFree) return
    this.#isFree = true
    this.#house.free(this.#queue, this.#domain)
  }

  #end(): void {
    this.#isOver = true
    this.#sending.end()
    const { gate, tally, now, report, over } = this.#house
    if (!this.#isReported) report(this.#queue.key, this.#slot, undefined)
    tally.done++
    try {
      if (channels.done.hasSubscribers) {
        const { url, origin } = this.verdict
        const at = now()
        const tookMs = at - this.#leftAt
        channels.done.publish({ gate, at, url, origin, key: this.#queue.key, tookMs, status: this.#status })
      }
    } finally {
      this.free()
      over()
    }
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
