/**
 * Tells a promise from a value that is known already. So a request that need not wait costs no turn
 * of the event loop.
 */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
