// Collects the writes of one turn of the event loop for one transaction, since each transaction costs
// more than a write: SQLite takes locks, and writes whole pages of 4 KiB to its log.
import { setImmediate } from 'node:timers/promises'
import { isPolitelyError } from '@politely/core'

interface PendingWrite<W> {
  readonly write: W
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * What a write may add to the log besides its own bytes: pages of tables and indexes, also for what it
 * evicts.
 */
const OVERHEAD_BYTES_PER_WRITE = 4 * 4_096

export class WriteQueue<W> {
  readonly #maxBytes: number
  readonly #commit: (writes: readonly W[]) => Promise<void>
  #pending: PendingWrite<W>[] = []
  #flushing: Promise<void> | undefined

  /**
   * @param maxBytes The most bytes of one transaction. A longer write has its own.
   * @param commit Writes everything in one transaction, or nothing.
   */
  constructor(maxBytes: number, commit: (writes: readonly W[]) => Promise<void>) {
    this.#maxBytes = maxBytes
    this.#commit = commit
  }

  /** Resolves when the write is committed. */
  add(write: W, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#pending.push({ write, bytes: bytes + OVERHEAD_BYTES_PER_WRITE, resolve, reject })
    this.#flushing ??= this.#flush()
    return promise
  }

  /** Resolves when all writes have ended. */
  async idle(): Promise<void> {
    await this.#flushing
  }

  /** Commits batches until the queue is empty. Yields to the event loop between two transactions. */
  async #flush(): Promise<void> {
    for (await setImmediate(); this.#pending.length > 0; await setImmediate())
      await this.#end(this.#pending.splice(0, this.#batchLength()))
    this.#flushing = undefined
  }

  async #end(batch: readonly PendingWrite<W>[]): Promise<void> {
    try {
      await this.#commit(batch.map(({ write }) => write))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      // One write may be the cause. For a locked file, only the batch waits.
      if (batch.length > 1 && isPolitelyError(error) && error.code === 'ERR_POLITELY_STORE_FAILED')
        for (const one of batch) await this.#end([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Returns how many writes fit into one transaction; at least one. */
  #batchLength(): number {
    let bytes = 0
    const end = this.#pending.findIndex((write) => {
      bytes += write.bytes
      return bytes > this.#maxBytes
    })
    return end === -1 ? this.#pending.length : Math.max(1, end)
  }
}
