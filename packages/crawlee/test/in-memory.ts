// Configuration for crawlers in tests: no files on disk, no log.
import { Configuration, LogLevel, log } from '@crawlee/basic'
import { MemoryStorage } from '@crawlee/memory-storage'

log.setLevel(LogLevel.OFF)

/** Returns a configuration with its own storage in memory. It writes nothing to ./storage. */
export function inMemory(): Configuration {
  const configuration = new Configuration({ persistStorage: false })
  configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))
  return configuration
}
