// A robots.txt library as a benchmark sees it: a file goes in, something is kept, questions are put to that.

/** Whose rules every library is asked about. */
export const CRAWLER = 'ExampleBot'

/**
 * A library as functions without closures. A closure over what a library made would count as the library's memory.
 */
export interface Library<Prepared = unknown> {
  readonly name: string
  /**
   * How many of a file's questions it is asked, in `ask`: `all`, or a `sample` for a library that would take hours
   * for all.
   */
  readonly questions: 'all' | 'sample'
  /** Reads a file. A library that can only be handed a stream answers later. */
  prepare(text: string, robotsUrl: string): Prepared | Promise<Prepared>
  isAllowed(prepared: Prepared, url: string): boolean
  /** The same from bytes; undefined where the library takes text only. */
  prepareBytes(bytes: Uint8Array, robotsUrl: string): Prepared | undefined
  /** What the library says of its own size; undefined where it says nothing. */
  claimedBytes(prepared: Prepared): number | undefined
}

/** Libraries of one shape, members in one order: a benchmark's loop shall not be slower for some than for others. */
export function library<Prepared>(
  name: string,
  questions: 'all' | 'sample',
  prepare: (text: string, robotsUrl: string) => Prepared | Promise<Prepared>,
  isAllowed: (prepared: Prepared, url: string) => boolean,
  prepareBytes: (bytes: Uint8Array, robotsUrl: string) => Prepared | undefined = () => undefined,
  claimedBytes: (prepared: Prepared) => number | undefined = () => undefined,
): Library<Prepared> {
  return { name, questions, prepare, isAllowed, prepareBytes, claimedBytes }
}

/** The path and query of an absolute URL, for libraries that are asked about those. */
export function pathIn(url: string): string {
  return url.slice(url.indexOf('/', 8))
}
