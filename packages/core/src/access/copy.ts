// A robots.txt file that a server sent.

/** A robots.txt as it was received. */
export interface Copy {
  /** Its bytes, one character for each (latin1). */
  readonly bytes: string
  /** Whether the size limit cut it off. */
  readonly truncated: boolean
  /** When a server last said that this is the file. Milliseconds since 1970. */
  readonly confirmedAt: number
  /** The URL that sent it. Conditional requests go to this URL only. */
  readonly url: string
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}
