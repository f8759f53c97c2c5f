// One call of `enter`: it comes, perhaps waits, and gets a pass or an error.
import type { Delay, PageAnswer, Wishes } from '@politely/core'
import type { Asked, ClientVerdict } from '@politely/fetcher'
import type { Tally } from './counters.ts'
import { RobotsDisallowedError } from './errors.ts'
import { channels } from './events.ts'
import type { PoliteGate } from './gate.ts'
import { type Answer, type Pass, pageAnswerOf } from './pass.ts'
import type { KeyQueue, TakenSlot, Waiter, WaitReason } from './queue.ts'

/** One about a URL, and not refused: what is no URL never is. */
export type AllowedVerdict = ClientVerdict & Asked

/** What an entrant needs of its gate. */
export interface House {
  readonly gate: PoliteGate
  readonly now: () => number
  readonly tally: Tally
  readonly wishesOf: (verdict: AllowedVerdict) => Wishes
  /** Asks robots.txt; throws where it says no. */
  readonly allowed: (url: string, signal: AbortSignal | undefined) => Promise<AllowedVerdict>
  /** A request has left: its pause counts from now. */
  readonly departed: (key: string, slot: TakenSlot) => void
  readonly report: (key: string, slot: TakenSlot, answer: PageAnswer | undefined) => void
  /** The request is over, and its place is free. */
  readonly left: (queue: KeyQueue) => void
}

export class Entrant implements Waiter {
  wishes: Wishes
  /** As soon as it may leave. */
  pass: GrantedPass | undefined
  readonly #house: House
  readonly #queue: KeyQueue
  readonly #signal: AbortSignal | undefined
  readonly #start: number
  #verdict: AllowedVerdict
  #settle: { readonly resolve: (pass: GrantedPass) => void; readonly reject: (error: unknown) => void } | undefined
  #error: { readonly error: unknown } | undefined

  constructor(house: House, verdict: AllowedVerdict, queue: KeyQueue, signal: AbortSignal | undefined) {
    this.#house = house
    this.#verdict = verdict
    this.wishes = house.wishesOf(verdict)
    this.#queue = queue
    this.#signal = signal
    this.#start = house.now()
  }

  /** Stands in the queue; resolves when it may leave. */
  turn(): GrantedPass | Promise<GrantedPass> {
    const ahead = this.#queue.waiting
    this.#queue.join(this)
    if (this.pass !== undefined) return this.pass
    if (this.#error) return Promise.reject(this.#error.error)
    if (channels.wait.hasSubscribers) {
      channels.wait.publish({ ...this.#told(), because: this.#queue.heldBy, ahead })
    }
    return new Promise((resolve, reject) => {
      const signal = this.#signal
      const abort = () => {
        this.#queue.remove(this)
        this.fail(signal?.reason)
      }
      const over = () => signal?.removeEventListener('abort', abort)
      this.#settle = {
        resolve: (pass) => {
          over()
          resolve(pass)
        },
        reject: (error) => {
          over()
          reject(error)
        },
      }
      signal?.addEventListener('abort', abort)
    })
  }

  async recheck(): Promise<boolean> {
    try {
      this.#verdict = await this.#house.allowed(this.#verdict.url, this.#signal)
      this.wishes = this.#house.wishesOf(this.#verdict)
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  admit(slot: TakenSlot, heldBy: WaitReason | undefined): void {
    const waitedMs = this.#house.now() - this.#start
    const waitedFor = this.#settle === undefined ? 'none' : (heldBy ?? 'none')
    this.pass = new GrantedPass(this.#house, this.#queue, slot, this.#verdict, waitedMs, waitedFor)
    this.#settle?.resolve(this.pass)
  }

  /** Once is enough: what went wrong first is told. */
  fail(error: unknown): void {
    if (this.#error !== undefined || this.pass !== undefined) return
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

export class GrantedPass implements Pass {
  readonly verdict: AllowedVerdict
  readonly waitedMs: number
  readonly waitedFor: WaitReason | 'none'
  readonly delay: Delay
  readonly #house: House
  readonly #queue: KeyQueue
  readonly #slot: TakenSlot
  #leftAt = 0
  #status: number | undefined
  #isReported = false
  #isOver = false

  constructor(
    house: House,
    queue: KeyQueue,
    slot: TakenSlot,
    verdict: AllowedVerdict,
    waitedMs: number,
    waitedFor: WaitReason | 'none',
  ) {
    this.#house = house
    this.#queue = queue
    this.#slot = slot
    this.verdict = verdict
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor
    this.delay = slot.delay
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
    tally.left++
    if (waitedFor !== 'none') tally.waited(waitedFor, waitedMs)
    if (channels.leave.hasSubscribers) {
      const { url, origin } = this.verdict
      channels.leave.publish({ gate, at, url, origin, key: this.#queue.key, waitedMs, waitedFor, delay })
    }
    departed(this.#queue.key, this.#slot)
  }

  answered(answer: Answer): void {
    if (this.#isReported || this.#isOver) return
    const pageAnswer = pageAnswerOf(answer) // before anything is told: it throws for what is no answer
    this.#isReported = true
    this.#status = pageAnswer.status
    this.#house.report(this.#queue.key, this.#slot, pageAnswer)
  }

  leave(answer?: Answer): void {
    if (this.#isOver) return
    if (answer !== undefined) this.answered(answer)
    this.#isOver = true
    const { gate, tally, now, report, left } = this.#house
    if (!this.#isReported) report(this.#queue.key, this.#slot, undefined)
    tally.done++
    if (channels.done.hasSubscribers) {
      const { url, origin } = this.verdict
      const at = now()
      const tookMs = at - this.#leftAt
      channels.done.publish({ gate, at, url, origin, key: this.#queue.key, tookMs, status: this.#status })
    }
    left(this.#queue)
  }

  [Symbol.dispose](): void {
    this.leave()
  }
}
