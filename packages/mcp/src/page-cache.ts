// Caches the last few pages, so that a client can read one page in parts with one request.

const MAX_PAGES = 8
const MAX_AGE_MS = 5 * 60 * 1000

export class RecentPages<Page> {
  readonly #pages = new Map<string, { readonly page: Page; readonly expiresAt: number }>()

  get(key: string): Page | undefined {
    const cached = this.#pages.get(key)
    return cached !== undefined && cached.expiresAt > performance.now() ? cached.page : undefined
  }

  set(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#pages.set(key, { page, expiresAt: performance.now() + MAX_AGE_MS })
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }

  clear(): void {
    this.#pages.clear()
  }
}
