// The interface of a library in the benchmark: it parses a file, and checks URLs with the result.

/**
 * A library as functions without closures, because the memory of a closure would count as the
 * library's.
 */
export interface Library<Prepared = unknown> {
  readonly name: string
  /**
   * How many of a file's URLs the library checks: `all`, or a `sample` if all of them would take
   * hours.
   */
  readonly checks: 'all' | 'sample'
  /** Parses a file. A library that reads streams only returns a promise. */
  prepare(text: string, robotsUrl: string): Prepared | Promise<Prepared>
  isAllowed(prepared: Prepared, url: string): boolean
  /** Parses bytes. Returns undefined if the library accepts text only. */
  prepareBytes(bytes: Uint8Array, robotsUrl: string): Prepared | undefined
  /** Returns the size that the library reports of its parsed file; undefined if it reports none. */
  reportedBytes(prepared: Prepared): number | undefined
}

/**
 * Creates libraries whose members are in the same order, so that V8 treats them as one type and no
 * library is slower for that reason.
 */
export function library<Prepared>(
  name: string,
  checks: 'all' | 'sample',
  prepare: (text: string, robotsUrl: string) => Prepared | Promise<Prepared>,
  isAllowed: (prepared: Prepared, url: string) => boolean,
  prepareBytes: (bytes: Uint8Array, robotsUrl: string) => Prepared | undefined = () => undefined,
  reportedBytes: (prepared: Prepared) => number | undefined = () => undefined,
): Library<Prepared> {
  return { name, checks, prepare, isAllowed, prepareBytes, reportedBytes }
}

/** Returns path and query of an absolute URL, for libraries that check these. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', 8))
}
