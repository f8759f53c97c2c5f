// The response headers that callers pass to core.

/** Header values by name in lower case. The value of a repeated header may be an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Returns the value of a header. The values of a repeated header are joined with commas (RFC 9110
 * §5.3).
 */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}
