// The pauses that sites have asked for, by a pushback or by other headers, as far as one worker
// knows. The worker remembers them because the server may lose them, or may be away.
//
// There are two kinds:
//
//   own         This worker got the response that asked for it, so only this worker can tell the
//               server of it again. `epoch` is the epoch in which the server learned of it.
//   of others   The server named the pause as the reason for a wait. The pause may include a turn, so
//               the server is not told of it. It counts only while the server is away.
//
// Example: this worker gets a 429 with `Retry-After: 60`, and reports it to the server in epoch 5.
// The server restarts without data, so epoch 6 begins. The next reply shows the new epoch.
// `FleetPacer` then tells the server of the pause again, and says that it learned of it in epoch 5.
// The script ignores pauses that it learned of in its present epoch, so telling it twice does no
// harm.

import { LRUCache } from '@politely/fetcher/internal'
import type { PaceReason } from '@politely/gate/internal'

/** A pause by this worker's clock. */
interface PushbackPause {
  readonly until: number
  readonly because: PaceReason
}

/** A pause that this worker caused. */
export interface OwnPushback extends PushbackPause {
  /** The epoch in which the server learned of the pause; -1 if it does not know of it yet. */
  readonly epoch: number
  /**
   * A report of the pause is under way or will be sent again. Its reply has the pause as the
   * server knows it.
   */
  readonly isReported: boolean
}

const MAX_PUSHBACKS = 10_000

export class KnownPushbacks {
  readonly #own = new LRUCache<string, OwnPushback>({ max: MAX_PUSHBACKS })
  readonly #ofOthers = new LRUCache<string, PushbackPause>({ max: MAX_PUSHBACKS })

  /** The keys of own pushbacks, least recent first. */
  get keys(): readonly string[] {
    return [...this.#own.rkeys()]
  }

  /** Returns the own pushback of a key. Forgets it if its pause is over. */
  ownOf(key: string, now: number): OwnPushback | undefined {
    const pushback = this.#own.peek(key)
    if (pushback === undefined || pushback.until > now) return pushback
    this.#own.delete(key)
    return undefined
  }

  /** Keeps the pause that ends last. */
  rememberOwn(key: string, pushback: OwnPushback): void {
    const known = this.#own.peek(key)
    // A pause in a reply includes the pauses that the server knows, even if it ends earlier.
    const isIncluded = pushback.epoch !== -1 && (known?.isReported || known?.epoch === pushback.epoch)
    if (known === undefined || isIncluded || pushback.until >= known.until) this.#own.set(key, pushback)
  }

  /** To be called when the server has learned of a pushback, unless the key has a newer one now. */
  told(key: string, pushback: OwnPushback | undefined, epoch: number): void {
    if (pushback !== undefined && this.#own.peek(key) === pushback) this.#own.set(key, { ...pushback, epoch })
  }

  rememberOfOthers(key: string, pause: PushbackPause): void {
    this.#ofOthers.set(key, pause)
  }

  /** Returns the pause that ends last, of either kind. It may be over. */
  lastOf(key: string): PushbackPause | undefined {
    const pauses = [this.#own.peek(key), this.#ofOthers.peek(key)].filter((pause) => pause !== undefined)
    return pauses.sort((one, other) => other.until - one.until)[0]
  }
}
