// Reads the headers of a request in the forms of fetch and of Node.

/**
 * The headers of a request: a `Headers`, an object as in Node (`request.headers`), pairs, or a list
 * of names and values in turn (`request.rawHeaders`).
 * @inline
 */
export type HeadersLike =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | readonly string[]

/** A request to verify: a `Request`, or an object with these properties. */
export interface SignedRequest {
  readonly method: string
  /** The absolute URL, as the client wrote it. Behind a proxy, the public one. */
  readonly url: string
  readonly headers: HeadersLike
}

/** Returns the value of a field, its lines combined (RFC 9421 §2.1); undefined if it is missing. */
export function fieldValue(headers: HeadersLike, name: string): string | undefined {
  const lines: string[] = []
  for (const [key, value] of pairsOf(headers)) {
    if (value === undefined || key.toLowerCase() !== name) continue
    lines.push(...(typeof value === 'string' ? [value] : value))
  }
  if (lines.length === 0) return undefined
  return lines.map((line) => trimmed(line).replace(/\r?\n[ \t]+/g, ' ')).join(', ')
}

function pairsOf(headers: HeadersLike): Iterable<readonly [string, string | readonly string[] | undefined]> {
  if (!(Symbol.iterator in headers)) return Object.entries(headers)
  if (!Array.isArray(headers) || typeof headers[0] !== 'string') return headers as Iterable<readonly [string, string]>
  return headers.flatMap((name: string, n) => (n % 2 === 0 ? [[name, headers[n + 1]]] : []))
}

/**
 * Removes spaces and tabs around a value. `trim` would remove characters that belong to it, such as
 * a no-break space; a regular expression takes quadratic time.
 */
function trimmed(line: string): string {
  const isSpace = (at: number) => line[at] === ' ' || line[at] === '\t'
  let [start, end] = [0, line.length]
  while (start < end && isSpace(start)) start++
  while (end > start && isSpace(end - 1)) end--
  return line.slice(start, end)
}
