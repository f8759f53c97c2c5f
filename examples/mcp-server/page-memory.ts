// The last few pages, so that who reads one part by part asks the site once, and reads one page and not several.
import type { Page } from './page-reader.ts'

const MOST_PAGES = 8
const KEPT_MS = 5 * 60 * 1000

export class PageMemory {
  readonly #pages = new Map<string, { readonly page: Page; readonly until: number }>()

  get(key: string): Page | undefined {
    const kept = this.#pages.get(key)
    return kept !== undefined && kept.until > performance.now() ? kept.page : undefined
  }

  set(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#pages.set(key, { page, until: performance.now() + KEPT_MS })
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MOST_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }

  clear(): void {
    this.#pages.clear()
  }
}
