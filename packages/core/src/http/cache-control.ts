// Cache-Control of a response, as far as a cache of robots.txt asks about it. RFC 9111 §5.2.2.

export interface CacheControl {
  /** Seconds; 0 where the value cannot be read, since RFC 9111 §4.2.1 takes that for stale. */
  readonly maxAge: number | undefined
  /** Seconds; the same. */
  readonly sMaxage: number | undefined
  readonly noStore: boolean
  readonly noCache: boolean
}

/** Reads the directives; of one that is repeated, the shortest time holds. */
export function cacheControlOf(value: string | undefined): CacheControl {
  let maxAge: number | undefined
  let sMaxage: number | undefined
  let noStore = false
  let noCache = false
  for (const part of directivesIn(value ?? '')) {
    const equals = part.indexOf('=')
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase()
    const argument = equals === -1 ? '' : part.slice(equals + 1).trim()
    if (name === 'max-age') maxAge = Math.min(maxAge ?? Number.POSITIVE_INFINITY, deltaSeconds(argument))
    else if (name === 's-maxage') sMaxage = Math.min(sMaxage ?? Number.POSITIVE_INFINITY, deltaSeconds(argument))
    else if (name === 'no-store') noStore = true
    else if (name === 'no-cache') noCache = true
  }
  return { maxAge, sMaxage, noStore, noCache }
}

/** The members of the list; a comma inside quotes does not end one. */
function directivesIn(value: string): readonly string[] {
  return value.match(/(?:[^,"]|"[^"]*"?)+/g) ?? []
}

/** RFC 9111 §1.2.2, whose bound keeps arithmetic finite; quoted numbers are wrong but frequent. */
function deltaSeconds(argument: string): number {
  const digits = /^"?(\d+)"?$/.exec(argument)?.[1]
  return digits === undefined ? 0 : Math.min(Number(digits), 2 ** 31)
}
