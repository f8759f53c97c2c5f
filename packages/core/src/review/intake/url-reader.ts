// What the readers of URLs have in common: they read lines, so that an input may be larger than the
// memory. The command and the playground use them.

export interface UrlReader {
  /** How many lines, rows or items have no URL, and the first of them, counted from 1. */
  readonly skipped: number
  readonly firstSkipped: number
  /** Set if the input cannot be read. The rest of it is ignored. */
  readonly problem: UrlInputProblem | undefined
  /**
   * Returns the URLs in lines without line ends and without blank lines. A text that is no URL is
   * returned as it is where a URL is expected: in a list, in the column of a table, in a field.
   */
  write(lines: readonly string[]): readonly string[]
  /** Returns the URLs that only the end of the input shows. */
  end(): readonly string[]
}

/** Why an input cannot be read. */
export type UrlInputProblem =
  /** A table whose last row is open, or whose row is longer than 1 MB; JSON of over 64 MB. */
  | { readonly kind: 'open-quote' | 'long-row' | 'long-document' }
  /** A table without a column of URLs. */
  | { readonly kind: 'no-column'; readonly wanted: readonly string[]; readonly columns: readonly string[] }
