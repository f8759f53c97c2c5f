// The files that wait to be read, and the files that were read or queued. Bounded by `maxFiles`.

/** A file that waits. JSON-safe. */
export interface Task {
  readonly url: string
  readonly depth: number
  readonly parent?: string
  /** The number of entries that an earlier reading has yielded already. */
  readonly skip?: number
}

/**
 * Where a reading was interrupted. JSON-safe: keep it in a file, and give it to a later reading as
 * `resume`.
 */
export interface ResumeToken {
  readonly version: 1
  /** The files that wait, in order. The first one may be read in part: `skip` counts its entries. */
  readonly queue: readonly Task[]
  /** The files that were read. */
  readonly read: readonly string[]
}

/** `added`, or why not. */
export type AddResult = 'added' | 'duplicate' | 'full'

export class FileQueue {
  readonly #maxFiles: number
  readonly #waiting = new Map<string, Task>()
  readonly #read = new Set<string>()
  /** Files that a later reading continues with. */
  readonly #left: Task[] = []
  #count = 0

  constructor(maxFiles: number) {
    this.#maxFiles = maxFiles
  }

  /** @param isSkipped Whether the file counts as read. */
  add(task: Task, isSkipped = false): AddResult {
    if (this.#read.has(task.url) || this.#waiting.has(task.url)) return 'duplicate'
    if (this.#count >= this.#maxFiles) return 'full'
    this.#count++
    if (isSkipped) this.#read.add(task.url)
    else this.#waiting.set(task.url, task)
    return 'added'
  }

  /** Removes and returns the first file. */
  next(): Task | undefined {
    for (const [url, task] of this.#waiting) {
      this.#waiting.delete(url)
      return task
    }
    return undefined
  }

  /** Keeps a file for a later reading. */
  leave(task: Task): void {
    this.#left.push(task)
  }

  isRead(url: string): boolean {
    return this.#read.has(url)
  }

  markRead(url: string): void {
    this.#read.add(url)
  }

  restore({ queue, read }: ResumeToken): void {
    for (const url of read) this.#read.add(url)
    for (const task of queue) this.#waiting.set(task.url, task)
    this.#count = this.#read.size + this.#waiting.size
  }

  /** @param current The file that is being read, if any. */
  token(current: Task | undefined): ResumeToken {
    const queue = [...this.#left, ...(current ? [current] : []), ...this.#waiting.values()]
    const urls = new Set(queue.map(({ url }) => url))
    return { version: 1, queue, read: [...this.#read].filter((url) => !urls.has(url)) }
  }
}
