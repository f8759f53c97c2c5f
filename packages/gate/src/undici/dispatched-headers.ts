// Reads the headers of a dispatched request once, in any form that undici accepts, and adds the User-Agent.
import type { Dispatcher } from 'undici'
import { warnOfOtherName } from '../adapter/user-agent.ts'
import type { PoliteGate } from '../gate.ts'
import { InvalidRequestError } from '../report/errors.ts'

type DispatchedHeaders = Dispatcher.DispatchOptions['headers']

/** The default User-Agent of fetch: that of Node, and that of undici. */
const DEFAULTS_OF_FETCH: ReadonlySet<unknown> = new Set(['node', 'undici'])

/**
 * Returns a copy of the headers that cannot change later, and the values of all Host headers. Sets the User-Agent unless the caller has.
 * @throws {InvalidRequestError} for a pseudo-header of HTTP/2: `:authority` and `:path` could name another site or page than the URL.
 */
export function fixedHeaders(
  headers: DispatchedHeaders,
  gate: PoliteGate,
): { readonly headers: NonNullable<DispatchedHeaders>; readonly hosts: readonly unknown[] } {
  const isList = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  const list = listOf(headers)
  const names = list.map((name, n) => (n % 2 === 0 ? String(name).toLowerCase() : ''))
  const pseudo = names.find((name) => name.startsWith(':'))
  if (pseudo !== undefined)
    throw new InvalidRequestError(
      `the pseudo-header ${pseudo} of HTTP/2 is not supported; leave it out, and put its value in the URL`,
    )
  const hosts = list.filter((_, n) => names[n - 1] === 'host').flat()
  const at = names.indexOf('user-agent')
  const { userAgent } = gate.robots
  if (at === -1) list.push('user-agent', userAgent)
  else if (DEFAULTS_OF_FETCH.has(list[at + 1])) list[at + 1] = userAgent
  else warnOfOtherName(gate, list[at + 1])
  return { headers: isList ? (list as string[]) : objectOf(list), hosts: hosts.filter((host) => host !== undefined) }
}

/** Returns `[name, value, name, value]`. Undici accepts such a list, an iterable of pairs, or an object. */
function listOf(headers: DispatchedHeaders): unknown[] {
  const isIterable = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  const items: Iterable<unknown> = isIterable ? (headers as Iterable<unknown>) : Object.entries(headers ?? {})
  const list = Array.isArray(headers) ? headers : [...items].flat()
  // A name may be a Buffer, which undici converts to a string.
  return list.map((item: unknown, n) => (n % 2 === 0 ? String(item) : item))
}

/** The result has the form of the input: undici accepts several values for one name only in an object. */
function objectOf(list: readonly unknown[]): NonNullable<DispatchedHeaders> {
  return Object.fromEntries(list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1]]] : [])))
}
