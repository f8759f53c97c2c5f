// The results of the files: a list that grows while the files are read, and an async iterable.
import type { SitemapFile } from '../file-result.ts'

/** The results of the files, in the order in which they ended. */
export interface SitemapFiles extends AsyncIterable<SitemapFile> {
  /** The results so far. */
  readonly list: readonly SitemapFile[]
}

export class FileResults implements SitemapFiles {
  readonly list: SitemapFile[] = []
  readonly #start: () => void
  #isEnded = false
  #error: { readonly error: unknown } | undefined
  #changed = Promise.withResolvers<void>()

  /** @param start Called when the results are iterated: reads the files if the caller does not. */
  constructor(start: () => void) {
    this.#start = start
  }

  add(file: SitemapFile): void {
    this.list.push(file)
    this.#change()
  }

  end(): void {
    this.#isEnded = true
    this.#change()
  }

  fail(error: unknown): void {
    this.#error = { error }
    this.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SitemapFile, void> {
    this.#start()
    for (let index = 0; ; index++) {
      while (index >= this.list.length) {
        if (this.#error !== undefined) throw this.#error.error
        if (this.#isEnded) return
        await this.#changed.promise
      }
      yield this.list[index] as SitemapFile
    }
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}
