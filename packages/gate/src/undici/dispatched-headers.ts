// Headers in the forms in which undici takes them, read once, with the crawler's name in them.
import type { Dispatcher } from 'undici'
import { InvalidRequestError } from '../errors.ts'

type DispatchedHeaders = Dispatcher.DispatchOptions['headers']

/** What fetch itself puts in where the caller named no User-Agent: Node's, and undici's. */
const NAMES_OF_FETCH: ReadonlySet<unknown> = new Set(['node', 'undici'])

/**
 * A copy in a form that reads the same each time, with this User-Agent unless the headers have one; and the values of all Host headers.
 * @throws {InvalidRequestError} for a pseudo-header of HTTP/2, such as `:authority`: it says what is asked for.
 */
export function fixedHeaders(
  headers: DispatchedHeaders,
  userAgent: string,
): { readonly headers: NonNullable<DispatchedHeaders>; readonly hosts: readonly unknown[] } {
  const isList = headers !== null && headers !== undefined && (Array.isArray(headers) || Symbol.iterator in headers)
  // A Headers, a Map, pairs that are generated become a flat list: `[name, value, name, value]`.
  const list: unknown[] = isList
    ? Array.isArray(headers)
      ? [...headers]
      : [...(headers as Iterable<[string, string]>)].flat()
    : Object.entries(headers ?? {}).flatMap(([name, value]) => [name, value])
  const valuesOf = (wanted: string) => list.filter((_, n) => n % 2 === 1 && nameAt(list, n - 1) === wanted)
  const pseudo = list.find((_, n) => n % 2 === 0 && nameAt(list, n)?.startsWith(':'))
  if (pseudo !== undefined)
    throw new InvalidRequestError(`the header ${String(pseudo)} is of HTTP/2 itself; leave it out, and write the URL`)
  const hosts = valuesOf('host')
    .flat()
    .filter((value) => value !== undefined)
  return { headers: withUserAgent(list, isList, userAgent), hosts }
}

function withUserAgent(list: unknown[], isList: boolean, userAgent: string): NonNullable<DispatchedHeaders> {
  const at = list.findIndex((_, n) => n % 2 === 0 && nameAt(list, n) === 'user-agent')
  if (at === -1) list.push('user-agent', userAgent)
  else if (NAMES_OF_FETCH.has(list[at + 1])) list[at + 1] = userAgent
  if (isList) return list as string[]
  // In the form in which it was given: undici takes several values for a name in this one only.
  return Object.fromEntries(list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1]]] : [])))
}

function nameAt(list: readonly unknown[], n: number): string | undefined {
  const name = list[n]
  return typeof name === 'string' ? name.toLowerCase() : undefined
}
