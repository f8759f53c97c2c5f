// The error of a navigation whose browser is gone. Drivers have many words for that, and some of them name a frame and not the browser.

export class BrowserGoneError extends Error {
  override readonly name = 'BrowserGoneError'
  readonly code = 'ERR_POLITELY_BROWSER_GONE'

  /** @param cause What the driver said. */
  constructor(cause: unknown) {
    super(
      'the browser is gone: it was closed, it crashed, or the connection to it ended; launch it or connect to it again',
      { cause },
    )
  }
}
