// Recognises a dispatcher and a request from different versions of undici. Undici 6 and 8 call
// different methods of a handler, and undici 7 accepts both. Each rejects a handler without its
// methods, with an error that doesn't mention versions.
import { InvalidRequestError } from '../report/errors.ts'

/**
 * The error of an undici dispatcher about the handler of another version, possibly as the cause of
 * an error of fetch.
 */
function handlerErrorIn(error: unknown): string | undefined {
  const { code, message } = ((error as Error | undefined)?.cause ?? error ?? {}) as {
    code?: unknown
    message?: unknown
  }
  return code === 'UND_ERR_INVALID_ARG' && /^invalid on[A-Z]\w+ method$/.test(String(message))
    ? String(message)
    : undefined
}

/**
 * Returns an error that says which version to use, if `error` is about the handler of another
 * version of undici. Otherwise returns undefined.
 */
export function versionError(error: unknown): InvalidRequestError | undefined {
  const problem = handlerErrorIn(error)
  if (problem === undefined) return undefined
  // Undici 8 requires `onRequestStart`. Undici 6 requires `onError` and others.
  const message = problem.includes('onRequestStart')
    ? 'the dispatcher is of undici 8, and the request comes from an older undici, such as the built-in fetch of Node 22 and 24; write `dispatcher: new Dispatcher1Wrapper(dispatcher)` with the class of undici 8, or make the request with undici 8'
    : 'the dispatcher is of undici 6, and the request comes from undici 8, or passes through politeInterceptor; use an Agent of undici 8'
  return new InvalidRequestError(message, { cause: error })
}
