// A robots.txt file that a server sent.
import type { LooksLike } from '../foreign-format.ts'

/**
 * The bytes of a robots.txt file, with what is needed to ask the server whether they have changed.
 */
export interface Copy {
  /** The file, one character for each byte (latin1). */
  readonly bytes: string
  /** Whether the size limit cut the file. */
  readonly truncated: boolean
  /** When a server last sent or confirmed this file (200 or 304). Milliseconds since 1970. */
  readonly confirmedAt: number
  /** The URL that sent the file. Conditional requests go to this URL only. */
  readonly url: string
  /** The ETag header of the response. */
  readonly etag: string | undefined
  /** The Last-Modified header of the response. */
  readonly lastModified: string | undefined
  /**
   * The freshness lifetime in the headers of the last response that had one, for a 304 without one.
   * Milliseconds; undefined if no response had one. RFC 9111 §4.2.1.
   */
  readonly lifetimeMs: number | undefined
  /** What the file looks like, if it is not a robots.txt. */
  readonly looksLike?: LooksLike | undefined
}
