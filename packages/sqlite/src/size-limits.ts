// Divides `maxBytes` between the database file, its write-ahead log and one transaction. SQLite has
// no limit of its own that includes the log.

const MIB = 1024 * 1024

export interface SizeLimits {
  /**
   * SQLite copies the log into the database when it is this long. One transaction may add this much
   * more.
   */
  readonly walBytes: number
  readonly databaseBytes: number
  /**
   * Longer texts are not kept: each would need a transaction of its size and evict many other
   * texts.
   */
  readonly maxTextBytes: number
}

export function sizeLimits(maxBytes: number): SizeLimits {
  const walBytes = Math.floor(Math.min(4 * MIB, maxBytes / 16))
  const maxTextBytes = Math.floor(Math.min(4 * MIB, maxBytes / 8))
  // The last sixteenth is for index pages that a transaction changes, and for the shared-memory
  // file.
  const databaseBytes = Math.floor(maxBytes - 2 * walBytes - maxTextBytes - maxBytes / 16)
  return { walBytes, databaseBytes, maxTextBytes }
}
