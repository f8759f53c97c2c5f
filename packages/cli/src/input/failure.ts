// Why a request of fetch failed.

export interface RequestFailure {
  readonly text: string
  /** The code of Node, undici or OpenSSL: `ECONNREFUSED`. */
  readonly code: string | undefined
}

/**
 * Returns the innermost cause of an error of fetch or of a body. Returns undefined for an error of
 * another kind.
 */
export function requestFailure(error: unknown): RequestFailure | undefined {
  if (!(error instanceof Error)) return undefined
  const isOfConnection = /^(UND_ERR_|E[A-Z]+$)/.test(String(codeOf(error)))
  if (!(error instanceof TypeError) && !isOfConnection) return undefined
  let inner: Error = error
  while (inner.cause instanceof Error) inner = inner.cause
  // The error of several addresses has no message of its own.
  if (inner instanceof AggregateError && inner.errors[0] instanceof Error) inner = inner.errors[0]
  const code = codeOf(inner)
  // OpenSSL puts the reason between the names of its functions and files.
  const text = /SSL routines:[^:]*:([^:]+):/.exec(inner.message)?.[1] ?? (inner.message || inner.name)
  return { text: code === undefined || text.includes(code) ? text : `${text} (${code})`, code }
}

function codeOf(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : undefined
}
