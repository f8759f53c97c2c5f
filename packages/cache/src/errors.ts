import { PolitelyError } from '@politely/core/internal'

/**
 * What an offline cache lacks for a request.
 * @inline
 */
type CacheMissReason = 'page' | 'rules' | 'request'

const PROBLEMS: Readonly<Record<CacheMissReason, string>> = {
  page: 'the page is not stored; fetch it once without `offline`',
  rules:
    'the robots.txt of its origin is not stored; give the same `store` as the crawl did, such as SqliteStore of @politely/sqlite',
  request: 'only GET and HEAD without a body, a range or a condition are answered from what is stored',
}

/**
 * The cache is `offline`, and nothing that is stored can answer a request; `because` says what is
 * missing. Remedy: fetch the page once without `offline`, or give the `store` that the crawl had for
 * its robots.txt.
 */
export class CacheMissError extends PolitelyError {
  override readonly name = 'CacheMissError'
  override readonly code = 'ERR_POLITELY_CACHE_MISS'
  /** The URL of the request. */
  readonly url: string
  /** What is missing. */
  readonly because: CacheMissReason

  constructor(url: string, because: CacheMissReason) {
    super(`${url} cannot be answered offline: ${PROBLEMS[because]}`)
    this.url = url
    this.because = because
  }
}
