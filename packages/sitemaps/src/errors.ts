// The error of this package.
import { PolitelyError, withoutCredentials } from '@politely/core/internal'
import { describeResult, type SitemapFile } from './file-result.ts'

/**
 * The body of a sitemap broke off: the connection ended before the file did. The iteration of the
 * entries throws this error after the last entry. `files` has the results of these files. A refusal,
 * a status and a limit are results only, and no error.
 *
 * Remedy: read the rest later: pass `reading.token()` as the option `resume`.
 */
export class SitemapIncompleteError extends PolitelyError {
  override readonly name = 'SitemapIncompleteError'
  readonly code = 'ERR_POLITELY_SITEMAP_INCOMPLETE'
  /** The results of the files that broke off, in the order in which they were read. */
  readonly files: readonly SitemapFile[]

  constructor(files: readonly [SitemapFile, ...SitemapFile[]]) {
    const [first, ...others] = files
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    super(
      `${withoutCredentials(first.url)} broke off${more}: ${describeResult(first)}; read the rest with the option resume: reading.token()`,
    )
    this.files = files
  }
}
