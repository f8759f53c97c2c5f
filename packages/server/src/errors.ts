// The errors of the server. Each has a stable `code`.
import { PolitelyError } from '@politely/core/internal'

/**
 * A token file has a line that is not valid. The server keeps the tokens that it had.
 *
 * Remedy: Write the lines that `politely serve token NAME` prints; `line` is the line in question.
 */
export class TokenFileError extends PolitelyError {
  override readonly name = 'TokenFileError'
  readonly code = 'ERR_POLITELY_TOKEN_FILE'
  /** The first line is 1. */
  readonly line: number

  constructor(line: number, problem: string) {
    super(`line ${line} of the token file: ${problem}`)
    this.line = line
  }
}
