// The files that wait to be read, and the files that were read or queued. Bounded by `maxFiles` and
// `maxQueueBytes`.
import type { ResumeToken, Task } from './resume-token.ts'

/** `added`, or why not. */
export type AddResult = 'added' | 'duplicate' | 'limit: maxFiles' | 'limit: maxQueueBytes'

export class FileQueue {
  readonly #maxFiles: number
  readonly #maxBytes: number
  readonly #waiting = new Map<string, Task>()
  readonly #read = new Set<string>()
  /** Files that a later reading continues with. */
  readonly #left: Task[] = []
  #count = 0
  /** The length of the URLs that are kept. They are ASCII. */
  #bytes = 0

  constructor(maxFiles: number, maxBytes: number) {
    this.#maxFiles = maxFiles
    this.#maxBytes = maxBytes
  }

  /** The bytes of URLs that can still be added. Negative if redirects have used up more. */
  get bytesLeft(): number {
    return this.#maxBytes - this.#bytes
  }

  /** @param isSkipped Whether the file counts as read. */
  add(task: Task, isSkipped = false): AddResult {
    if (this.#read.has(task.url) || this.#waiting.has(task.url)) return 'duplicate'
    if (this.#count >= this.#maxFiles) return 'limit: maxFiles'
    if (task.url.length > this.bytesLeft) return 'limit: maxQueueBytes'
    this.#count++
    this.#bytes += task.url.length
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

  markRead(task: Task): void {
    this.#read.add(task.url)
  }

  /**
   * Counts the URLs of redirects, which the results keep.
   * @param target The last URL, if a file was there.
   */
  addRedirects(hops: readonly { readonly url: string }[], target: string | undefined): void {
    for (const { url } of hops.slice(1)) this.#bytes += url.length
    if (target === undefined || this.#read.has(target)) return
    this.#read.add(target)
    this.#bytes += target.length
  }

  restore({ queue, read }: ResumeToken): void {
    for (const url of read) this.#read.add(url)
    for (const task of queue) this.#waiting.set(task.url, task)
    this.#count = this.#read.size + this.#waiting.size
    for (const url of [...this.#read, ...this.#waiting.keys()]) this.#bytes += url.length
  }

  /** @param current The file that is being read, if any. */
  token(current: Task | undefined): ResumeToken {
    const queue = [...this.#left, ...(current ? [current] : []), ...this.#waiting.values()]
    const urls = new Set(queue.map(({ url }) => url))
    return { version: 1, queue, read: [...this.#read].filter((url) => !urls.has(url)) }
  }
}
