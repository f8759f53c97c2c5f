// What the tests of this package have in common: crawlers that keep nothing on disk and say nothing.
import { Configuration, LogLevel, log } from '@crawlee/basic'
import { MemoryStorage } from '@crawlee/memory-storage'

log.setLevel(LogLevel.OFF)

/** A memory of its own for each crawler; nothing is written to ./storage. */
export function inMemory(): Configuration {
  const configuration = new Configuration({ persistStorage: false })
  configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))
  return configuration
}
