// The error of a navigation whose browser is gone. Drivers word this error in many ways, and some
// messages name a frame instead of the browser.
import { PolitelyError } from '@politely/core/internal'

/**
 * The browser was closed, it crashed, or the connection to it ended, so a navigation cannot
 * continue. `cause` is the driver's own error.
 *
 * Remedy: Launch the browser again or reconnect to it, then call `withRobots` again.
 */
export class BrowserGoneError extends PolitelyError {
  override readonly name = 'BrowserGoneError'
  readonly code = 'ERR_POLITELY_BROWSER_GONE'

  /** @param cause The driver's own error. */
  constructor(cause: unknown) {
    super(
      'the browser is gone: it was closed, it crashed, or the connection to it ended; launch it or connect to it again',
      { cause },
    )
  }
}
