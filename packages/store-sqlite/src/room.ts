// How the bound on the disk is shared out. SQLite has no bound of its own for a file with its write-ahead log.

const MIB = 1024 * 1024

export interface Room {
  /** So long the log may be before it is copied into the file, and so much more one transaction may add to it. */
  readonly walBytes: number
  /** The file itself. */
  readonly mainBytes: number
  /** A longer text is not kept: it would need a transaction of its size, and drive out all others. */
  readonly mostTextBytes: number
}

export function roomIn(maxBytes: number): Room {
  const walBytes = Math.floor(Math.min(4 * MIB, maxBytes / 16))
  const mostTextBytes = Math.floor(Math.min(4 * MIB, maxBytes / 8))
  // The last sixteenth is for pages of indexes that a transaction touches here and there, and the shared memory's file.
  const mainBytes = Math.floor(maxBytes - 2 * walBytes - mostTextBytes - maxBytes / 16)
  return { walBytes, mainBytes, mostTextBytes }
}
