// Headers in the forms in which undici takes them, read once, with the crawler's name in them.
import type { Dispatcher } from 'undici'
import { InvalidRequestError } from '../errors.ts'

type DispatchedHeaders = Dispatcher.DispatchOptions['headers']

/** What fetch itself puts in where the caller named no User-Agent: Node's, and undici's. */
const NAMES_OF_FETCH: ReadonlySet<unknown> = new Set(['node', 'undici'])

/**
 * A copy in a form that reads the same each time, with this User-Agent unless the headers have one; and the values of all Host headers.
 * @throws {InvalidRequestError} for a pseudo-header of HTTP/2: `:authority` and `:path` would name another site or page than the URL.
 */
export function fixedHeaders(
  headers: DispatchedHeaders,
  userAgent: string,
): { readonly headers: NonNullable<DispatchedHeaders>; readonly hosts: readonly unknown[] } {
  const isList = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  const list = listOf(headers)
  const names = list.map((name, n) => (n % 2 === 0 ? String(name).toLowerCase() : ''))
  const pseudo = names.find((name) => name.startsWith(':'))
  if (pseudo !== undefined)
    throw new InvalidRequestError(`the header ${pseudo} is of HTTP/2 itself; leave it out, and write the URL`)
  const hosts = list.filter((_, n) => names[n - 1] === 'host').flat()
  const at = names.indexOf('user-agent')
  if (at === -1) list.push('user-agent', userAgent)
  else if (NAMES_OF_FETCH.has(list[at + 1])) list[at + 1] = userAgent
  return { headers: isList ? (list as string[]) : objectOf(list), hosts: hosts.filter((host) => host !== undefined) }
}

/** Returns `[name, value, name, value]` for each form that undici takes: such a list, an iterable of pairs, or an object. */
function listOf(headers: DispatchedHeaders): unknown[] {
  const isIterable = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  const items: Iterable<unknown> = isIterable ? (headers as Iterable<unknown>) : Object.entries(headers ?? {})
  const list = Array.isArray(headers) ? headers : [...items].flat()
  // Undici converts a name that is a Buffer, too.
  return list.map((item: unknown, n) => (n % 2 === 0 ? String(item) : item))
}

/** In the form in which it was given: undici takes several values for a name in an object only. */
function objectOf(list: readonly unknown[]): NonNullable<DispatchedHeaders> {
  return Object.fromEntries(list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1]]] : [])))
}
