// Lines of URLs that wait outside of the gate, until the first URL of a line may enter it.
//
// A line moves through these states. All of them change in this file.
//
//   state       its first URL                              left when
//   `idle`      is missing, or is not to enter yet         the owner calls `open`
//   `unknown`   waits for its robots.txt                   that is known
//   `waiting`   waits until `at`: a delay, or a circuit    the time has come
//   `full`      waits for a concurrency limit              any request of the gate ends, or a second has passed
//   `ready`     may try to enter                           the owner calls `enter`
//   `entering`  asks the gate                              it gets a permit, a wait or a refusal
//
// Example: a line of two URLs, whose site has a delay.
//
//   open      `unknown`    robots.txt is fetched
//             `ready`      nothing is known to hold up the first URL
//   enter     `entering`   it gets a permit, and the line is `idle`
//   open      `waiting`    the lane of the gate knows the delay, and no pacer is asked
//             `ready`      the time has come
//   enter     `entering`   the pacer says how long to wait, since another process was faster
//             `waiting`    the lane keeps the pacer's ticket, as the line is attached to it
//
// A line that is `ready` asks nothing until its owner wants a URL: an unused permit would hold up
// others.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Fifo, MAX_TIMER_MS } from '@politely/fetcher/internal'
import { type GatePort, gatePort, type OuterLane, type PoliteGate } from '../gate.ts'
import type { WaitForecast } from '../lane/estimate.ts'
import type { GrantedPermit } from '../lane/granted-permit.ts'
import type { GateMessages } from '../report/events.ts'
import { Heap } from './heap.ts'

/** How often a line looks whether a circuit has closed, or a limit is free. Our choice, as in `RestingLine`. */
const LOOK_MS = 1_000

export const DONE: 'politely:gate:done' & keyof GateMessages = 'politely:gate:done'

/** A URL, and the URLs that led to it. */
interface OuterUrl {
  readonly item: { readonly url: string }
  readonly redirectedFrom: readonly string[]
}

export abstract class OuterLine {
  state: 'idle' | 'unknown' | 'waiting' | 'full' | 'ready' | 'entering' = 'idle'
  /** When the next URL may start, by the gate's clock. */
  at = 0
  /** Orders lines with the same `at`: a smaller number came first. */
  turn = 0
  /** Whether robots.txt has been fetched if necessary since the line last waited. */
  isChecked = false
  #lane: OuterLane | undefined

  abstract get next(): OuterUrl

  /** The gate keeps the turn of the line in this lane. @param lane Undefined if no URL waits any more. */
  attach(lane: OuterLane | undefined): void {
    if (lane === this.#lane) return
    lane?.attach()
    this.#lane?.detach()
    this.#lane = lane
  }
}

export class OuterQueue<L extends OuterLine> {
  /** The lines whose next URL may try to enter, in the order of their slots. */
  readonly ready: Fifo<L> = new Fifo()
  readonly #gate: PoliteGate
  readonly #port: GatePort
  readonly #signal: AbortSignal
  readonly #onReady: () => void
  readonly #waiting = new Heap<L>((a, b) => a.at - b.at || a.turn - b.turn)
  #full: L[] = []
  /** When the full lines look again: no message tells that an aborted request has given its limit back. */
  #looksAt = 0
  #turns = 0
  #timer: NodeJS.Timeout | undefined
  readonly #onDone = (message: unknown) => {
    // The request is about to release its limits.
    if ((message as { readonly gate?: unknown }).gate === this.#gate) queueMicrotask(() => this.#resumeFull())
  }

  /**
   * @param signal After its abort nothing happens any more.
   * @param onReady Called when lines have become ready.
   */
  constructor(gate: PoliteGate, signal: AbortSignal, onReady: () => void) {
    this.#gate = gate
    this.#port = gatePort(gate)
    this.#signal = signal
    this.#onReady = onReady
  }

  /** An `idle` line has a URL that may enter when its turn comes. Rejects when the gate is closed. */
  async open(line: L): Promise<void> {
    if (line.state !== 'idle') return
    line.state = 'unknown'
    const { item, redirectedFrom } = line.next
    const entrance = await this.#port.entranceOf(item.url, redirectedFrom, true)
    if ('pending' in entrance) await entrance.pending
    if (this.#signal.aborted) return
    const wait = this.#waitAt(line, entrance)
    if (wait !== undefined) this.#hold(line, wait)
    else {
      line.isChecked = true
      this.#makeReady(line)
    }
    this.#onReady()
  }

  /**
   * Tries to enter the gate with a URL of a `ready` line. Returns undefined if it can't now: then the
   * line is `idle` again, or becomes ready by itself. Rejects with the gate's refusal of the URL.
   * @param keep Puts the URL back if it can't enter, before the line may be ready again.
   */
  async enter(
    line: L,
    { item: { url }, redirectedFrom }: OuterUrl,
    keep: () => void,
  ): Promise<GrantedPermit | undefined> {
    line.state = 'entering'
    this.ready.delete(line)
    try {
      const entrance = await this.#port.entranceOf(url, redirectedFrom, false)
      if (this.#signal.aborted) return undefined
      // The site's robots.txt has expired. Other sites need not wait until it's fetched.
      if ('pending' in entrance && !line.isChecked) {
        line.state = 'idle'
        keep()
        return undefined
      }
      line.isChecked = false
      let wait = this.#waitAt(line, entrance)
      if ('lane' in entrance && wait === undefined) {
        const entered = await entrance.tryEnter({ signal: this.#signal })
        if (!('allowed' in entered)) return entered
        if (entered.allowed && !isOfGate(entered)) wait = entered
      }
      // Says why it is refused, or waits for the limit of the gate.
      if (wait === undefined) return await this.#port.enterAnew(url, this.#signal, redirectedFrom)
      keep()
      this.#hold(line, wait)
      return undefined
    } finally {
      if (line.state === 'entering') line.state = 'idle'
    }
  }

  /** Makes the lines ready whose time has come. */
  resume(): void {
    if (this.#waiting.size === 0 && this.#full.length === 0) return
    const now = this.#port.now()
    while (this.#waiting.first !== undefined && this.#waiting.first.at <= now)
      this.#makeReady(this.#waiting.shift() as L)
    if (this.#full.length > 0 && this.#looksAt <= now) this.#makeFullReady()
  }

  /** Calls `onReady` when the next line may be ready, if that is awaited. The timer keeps the process alive. */
  setTimer(isAwaited: boolean): void {
    clearTimeout(this.#timer)
    const at = Math.min(
      this.#waiting.first?.at ?? Number.POSITIVE_INFINITY,
      this.#full.length > 0 ? this.#looksAt : Number.POSITIVE_INFINITY,
    )
    if (!isAwaited || at === Number.POSITIVE_INFINITY) return
    const waitMs = Math.max(1, at - this.#port.now())
    this.#timer = setTimeout(this.#onReady, Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
  }

  /** To be called after the abort of the signal. */
  close(): void {
    clearTimeout(this.#timer)
    this.#setFull([])
  }

  /** Returns what the next URL of a line is known to wait for. No pacer is asked. */
  #waitAt(line: L, entrance: Awaited<ReturnType<GatePort['entranceOf']>>): WaitForecast | undefined {
    if (!('lane' in entrance)) return undefined
    line.attach(entrance.lane)
    const wait = entrance.knownWait()
    return wait === undefined || isOfGate(wait) ? undefined : wait
  }

  #makeReady(line: L): void {
    line.state = 'ready'
    this.ready.add(line)
  }

  #hold(line: L, { waitMs, because }: WaitForecast): void {
    if (this.#signal.aborted) return
    line.isChecked = false
    if (waitMs > 0 && because !== 'concurrency') {
      line.state = 'waiting'
      // The result of a probe may close the circuit, or open it again, at any time.
      line.at = this.#port.now() + (because === 'circuit' ? Math.min(waitMs, LOOK_MS) : waitMs)
      line.turn = this.#turns++
      this.#waiting.add(line)
    } else {
      line.state = 'full'
      this.#setFull([...this.#full, line])
    }
  }

  /** The end of any request of the gate may be what these lines wait for. */
  #setFull(lines: L[]): void {
    if (lines.length > 0 && this.#full.length === 0) {
      this.#looksAt = this.#port.now() + LOOK_MS
      subscribe(DONE, this.#onDone)
    }
    if (lines.length === 0 && this.#full.length > 0) unsubscribe(DONE, this.#onDone)
    this.#full = lines
  }

  #resumeFull(): void {
    this.#makeFullReady()
    this.#onReady()
  }

  #makeFullReady(): void {
    const lines = this.#full
    this.#setFull([])
    for (const line of lines) this.#makeReady(line)
  }
}

/** When all requests of the gate are under way, the first of them to end lets any line go on. */
function isOfGate({ because, level, waitMs }: WaitForecast): boolean {
  return waitMs === 0 && because === 'concurrency' && level === 'gate'
}
