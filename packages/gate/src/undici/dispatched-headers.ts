// Headers in the forms in which undici takes them, with the crawler's name in them.
import type { Dispatcher } from 'undici'

type DispatchedHeaders = Dispatcher.DispatchOptions['headers']

/** What fetch itself puts in where nobody said anything: Node's, and undici's. That is nobody's name. */
const NOBODYS: ReadonlySet<unknown> = new Set(['node', 'undici'])

/** The same headers, with this User-Agent unless they have one. */
export function withUserAgent(headers: DispatchedHeaders, userAgent: string): NonNullable<DispatchedHeaders> {
  if (headers === null || headers === undefined) return { 'user-agent': userAgent }
  if (Array.isArray(headers)) return withName(headers, userAgent)
  // A Headers, a Map, pairs that are generated: read once. What undici takes as a list is a flat one.
  if (Symbol.iterator in headers) return withName([...(headers as Iterable<[string, string]>)].flat(), userAgent)
  const name = Object.keys(headers).find(isUserAgent)
  if (name === undefined) return { ...headers, 'user-agent': userAgent }
  return NOBODYS.has((headers as Record<string, unknown>)[name]) ? { ...headers, [name]: userAgent } : headers
}

/** `[name, value, name, value]` */
function withName(headers: readonly string[], userAgent: string): string[] {
  const at = headers.findIndex((text, i) => i % 2 === 0 && isUserAgent(text))
  if (at === -1) return [...headers, 'user-agent', userAgent]
  return NOBODYS.has(headers[at + 1]) ? headers.with(at + 1, userAgent) : [...headers]
}

function isUserAgent(name: unknown): boolean {
  return typeof name === 'string' && name.toLowerCase() === 'user-agent'
}
