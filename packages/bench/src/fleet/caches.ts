// Which workers have the fresh robots.txt entry of which origin in memory.

/**
 * The memory caches of all workers. No worker evicts a fresh entry: the simulation shows how much
 * memory that takes.
 */
export class Caches {
  /**
   * One bit for each origin and worker; undefined if only the worker that owns an origin ever reads
   * its entry.
   */
  readonly #bits: Uint8Array | undefined
  readonly #bytesPerOrigin: number
  readonly #owner: Int16Array
  readonly #sizes: Int32Array
  #total = 0
  /** The most fresh entries that one worker ever had. */
  largest = 0
  /** The most fresh entries that all workers together ever had. */
  largestTotal = 0

  constructor(origins: number, workers: number, hasOwners: boolean) {
    this.#bytesPerOrigin = Math.ceil(workers / 8)
    this.#bits = hasOwners ? undefined : new Uint8Array(origins * this.#bytesPerOrigin)
    this.#owner = new Int16Array(hasOwners ? origins : 0).fill(-1)
    this.#sizes = new Int32Array(workers)
  }

  has(id: number, worker: number): boolean {
    if (this.#bits === undefined) return this.#owner[id] === worker
    return ((this.#bits[id * this.#bytesPerOrigin + (worker >> 3)] as number) & (1 << (worker & 7))) !== 0
  }

  add(id: number, worker: number): void {
    if (this.has(id, worker)) return
    if (this.#bits === undefined) {
      this.delete(id)
      this.#owner[id] = worker
    } else {
      const byte = id * this.#bytesPerOrigin + (worker >> 3)
      this.#bits[byte] = (this.#bits[byte] as number) | (1 << (worker & 7))
    }
    this.#sizes[worker] = (this.#sizes[worker] as number) + 1
    this.largest = Math.max(this.largest, this.#sizes[worker] as number)
    this.#total++
    this.largestTotal = Math.max(this.largestTotal, this.#total)
  }

  /** Removes the entry of an origin everywhere: it has expired. */
  delete(id: number): void {
    if (this.#bits === undefined) {
      this.#shrink(this.#owner[id] as number)
      this.#owner[id] = -1
      return
    }
    const start = id * this.#bytesPerOrigin
    for (let worker = 0; worker < this.#sizes.length; worker++) if (this.has(id, worker)) this.#shrink(worker)
    this.#bits.fill(0, start, start + this.#bytesPerOrigin)
  }

  #shrink(worker: number): void {
    if (worker === -1) return
    this.#sizes[worker] = (this.#sizes[worker] as number) - 1
    this.#total--
  }
}
