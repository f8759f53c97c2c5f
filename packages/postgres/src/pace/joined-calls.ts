// Joins the calls of a PostgresPacer or a PostgresStore, so that a worker with many keys needs few
// connections and few round trips.
//
// At most two statements are under way. Calls of one turn of the event loop are one statement.
// While two are under way, further calls wait, and then are one statement too. So the more a worker
// has to do, the more calls a statement has.
//
//   call a, b          statement 1: a, b
//   call c             statement 2: c
//   call a, d, e       wait
//   reply to 2         statement 3: d, e    (the key a is under way, so its call waits)
//   reply to 1         statement 4: a
//
// A statement is one transaction. If it fails because of one request, it has done nothing, and each
// of its requests is made alone, one after the other. So a bad request fails no other, and a row
// that another session has locked holds up its own key. That key stays alone until it gets a reply.
import { PostgresTimeoutError } from '../errors.ts'

interface Call {
  readonly key: string
  readonly request: object
  readonly queuedAt: number
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
  /** A statement with this request has failed, or the last one of its key alone has. */
  isAlone: boolean
  /** How many statements of this request alone have lost a conflict. */
  conflicts: number
}

/**
 * Why a statement failed, as far as it matters here. `request`: one of its requests is bad.
 * `locked`: another session holds a row. `conflict`: the server chose it to end a deadlock, or
 * could not order it, and another attempt may succeed. `other`: no request of it can succeed now.
 */
export type StatementFailure = 'request' | 'locked' | 'conflict' | 'other'

interface JoinedCallsOptions {
  /** Makes the requests in one statement. Returns the reply to each, in their order. */
  readonly send: (requests: readonly object[]) => Promise<readonly unknown[]>
  readonly failureOf: (error: unknown) => StatementFailure
  /**
   * The caller waits this long for a reply. A statement that takes longer no longer counts as under
   * way: its connection may be dead. Milliseconds.
   */
  readonly timeoutMs: number
}

const MAX_UNDER_WAY = 2
/** A statement holds the locks of all its keys until it ends. Our choice. */
const MAX_JOINED = 100
/** How often a request alone may lose a conflict. Our choice. */
const MAX_CONFLICTS = 5
/** How many keys are remembered whose rows are locked. Our choice. */
const MAX_LOCKED = 1_000

export class JoinedCalls {
  readonly #options: JoinedCallsOptions
  #waiting: Call[] = []
  #underWay = 0
  readonly #keysUnderWay = new Set<string>()
  /** The keys whose rows another session held at the last call. */
  readonly #lockedKeys = new Set<string>()
  /** One at a time, so that the other statement is free for the other keys. */
  #isAloneUnderWay = false
  #isStartDue = false

  constructor(options: JoinedCallsOptions) {
    this.#options = options
  }

  /**
   * Makes a call. The calls of a key are made one after the other, in their order.
   * @param isLarge Whether the call is a statement alone.
   */
  call(key: string, request: object, isLarge = false): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const isAlone = isLarge || this.#lockedKeys.has(key)
    this.#waiting.push({ key, request, queuedAt: performance.now(), resolve, reject, isAlone, conflicts: 0 })
    this.#startSoon()
    return promise
  }

  /** The other calls of this turn of the event loop come first. */
  #startSoon(): void {
    if (this.#isStartDue || this.#underWay >= MAX_UNDER_WAY || this.#waiting.length === 0) return
    this.#isStartDue = true
    setImmediate(() => {
      this.#isStartDue = false
      while (this.#underWay < MAX_UNDER_WAY) {
        const [first, ...others] = this.#nextCalls()
        if (first === undefined) return
        void this.#send([first, ...others])
      }
    })
  }

  /** Takes the calls of the next statement out of the queue. */
  #nextCalls(): readonly Call[] {
    const next: Call[] = []
    const left: Call[] = []
    const keysLeft = new Set<string>() // a call must not overtake an earlier one of its key
    const { timeoutMs } = this.#options
    const oldest = performance.now() - timeoutMs
    for (const call of this.#waiting) {
      const isFull =
        next.length === MAX_JOINED || next[0]?.isAlone || (call.isAlone && (next.length > 0 || this.#isAloneUnderWay))
      if (call.queuedAt < oldest) {
        call.reject(new PostgresTimeoutError(timeoutMs)) // its caller no longer waits
      } else if (isFull || this.#keysUnderWay.has(call.key) || keysLeft.has(call.key)) {
        left.push(call)
        keysLeft.add(call.key)
      } else next.push(call)
    }
    this.#waiting = left
    return next
  }

  async #send(calls: readonly [Call, ...Call[]]): Promise<void> {
    const { send, timeoutMs } = this.#options
    const keys = new Set(calls.map(({ key }) => key))
    const { isAlone } = calls[0]
    this.#underWay++
    if (isAlone) this.#isAloneUnderWay = true
    for (const key of keys) this.#keysUnderWay.add(key)
    let isUnderWay = true
    const end = () => {
      if (!isUnderWay) return
      isUnderWay = false
      this.#underWay--
      if (isAlone) this.#isAloneUnderWay = false
      for (const key of keys) this.#keysUnderWay.delete(key)
      this.#startSoon()
    }
    const timer = setTimeout(end, timeoutMs).unref()
    try {
      const replies = await send(calls.map(({ request }) => request))
      if (isAlone) this.#lockedKeys.delete(calls[0].key)
      for (const [n, { resolve }] of calls.entries()) resolve(replies[n])
    } catch (error) {
      this.#failed(calls, error)
    }
    clearTimeout(timer)
    end()
  }

  #failed(calls: readonly [Call, ...Call[]], error: unknown): void {
    const failure = this.#options.failureOf(error)
    const [first] = calls
    if (calls.length > 1 && failure !== 'other') {
      for (const call of calls) call.isAlone = true
      this.#waiting.unshift(...calls)
    } else if (failure === 'conflict' && ++first.conflicts < MAX_CONFLICTS) {
      this.#waiting.unshift(first)
    } else {
      if (failure === 'locked' && this.#lockedKeys.size < MAX_LOCKED) this.#lockedKeys.add(first.key)
      for (const { reject } of calls) reject(error)
    }
  }
}
