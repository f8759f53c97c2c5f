// The errors of an operator's side, each with a stable `code`.
import { PolitelyError } from '@politely/core/internal'

/**
 * A key file cannot be used: it is missing, others than its owner may open it, or it has no private
 * Ed25519 key in it.
 *
 * Remedy: the message says what to write. `chmod 600 FILE` takes the permissions of others away; a
 * key that others may have read should be replaced with `politely keys rotate`.
 */
export class KeyFileError extends PolitelyError {
  override readonly name = 'KeyFileError'
  override readonly code = 'ERR_POLITELY_KEY_FILE'

  constructor(path: string, problem: string) {
    super(`${JSON.stringify(path)}: ${problem}`)
  }
}

/**
 * The identity file of a crawler is invalid: a field is missing, unknown, or has a wrong value.
 *
 * Remedy: the message names the field and says what to write. docs/identity.md lists all fields.
 */
export class IdentityFileError extends PolitelyError {
  override readonly name = 'IdentityFileError'
  override readonly code = 'ERR_POLITELY_IDENTITY_FILE'

  /** The field, such as `ranges[0]`. */
  readonly field: string

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`)
    this.field = field
  }
}
