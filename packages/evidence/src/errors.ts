// The error of this package.
import { PolitelyError } from '@politely/core/internal'

/**
 * A decision could not be written down, so it was not made: the check rejects, and no request is
 * sent. Or the sink is closed. `cause` is the error of the file system.
 *
 * Remedy: free some space, or do what the message says; the sink continues by itself. Or write
 * `onFailure: 'continue'` to crawl on without evidence.
 */
export class EvidenceError extends PolitelyError {
  override readonly name = 'EvidenceError'
  override readonly code = 'ERR_POLITELY_EVIDENCE'

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`${path}: ${problem}`, options)
  }
}
