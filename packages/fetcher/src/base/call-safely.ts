/**
 * Calls the caller's code, such as a listener. An error that it throws is reported as uncaught, as
 * Node does for listeners of an AbortSignal. It reaches neither the work that the code hears of nor
 * other listeners.
 */
export function callSafely(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
