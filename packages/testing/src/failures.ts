// The errors of requests that get no response. They have the codes and the texts of Node and undici.

/**
 * How a request can fail.
 * @inline
 */
export type FailureName = 'dns' | 'refused' | 'timeout' | 'reset' | 'tls'

const FAILURES: Readonly<Record<FailureName, (host: string) => [code: string, message: string]>> = {
  dns: (host) => ['ENOTFOUND', `getaddrinfo ENOTFOUND ${host}`],
  refused: (host) => ['ECONNREFUSED', `connect ECONNREFUSED ${host}`],
  timeout: (host) => ['UND_ERR_CONNECT_TIMEOUT', `Connect Timeout Error (attempted address: ${host})`],
  reset: () => ['ECONNRESET', 'read ECONNRESET'],
  tls: () => ['CERT_HAS_EXPIRED', 'certificate has expired'],
}

export const FAILURE_NAMES = Object.keys(FAILURES) as readonly FailureName[]

/**
 * Creates the error of a failed request.
 * @param hint What the user of the fake web can change; appended to the message.
 */
export function failureError(name: FailureName, host: string, hint?: string): Error & { readonly code: string } {
  const [code, message] = FAILURES[name](host)
  return Object.assign(new Error(hint === undefined ? message : `${message}: ${hint}`), { code })
}
