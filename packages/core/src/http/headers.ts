// Response headers as core takes them.

/** Names in lower case; a header that came several times may be an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** One header's value; several lines of it are one list (RFC 9110 §5.3). */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}
