// The errors of this package, each with a stable `code`.
import { PolitelyError } from '@politely/core/internal'

/**
 * A request could not be signed: the key is invalid, or the function that signs failed, took longer
 * than `expiresMs`, or returned something else than a signature of 64 bytes that its public key
 * verifies. The request was not sent.
 *
 * Remedy: `cause` is the error of the function, if it threw one. Check that `publicKey` belongs to
 * the key, and that the function signs the bytes themselves with Ed25519, not their hash.
 */
export class SigningError extends PolitelyError {
  override readonly name = 'SigningError'
  override readonly code = 'ERR_POLITELY_SIGNING'

  constructor(problem: string, cause?: unknown) {
    super(`the request was not signed, and not sent: ${problem}`, cause === undefined ? undefined : { cause })
  }
}
