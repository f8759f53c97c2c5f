// Configuration for crawlers in tests: no files on disk, no log, no measurement of the system's load.
import { Configuration, EventManager, LogLevel, log } from '@crawlee/basic'
import { MemoryStorage } from '@crawlee/memory-storage'

log.setLevel(LogLevel.OFF)

/** Emits no `systemInfo`. Crawlee's own starts `ps` for it each second, and twice for each crawl. */
class EventsWithoutSystemInfo extends EventManager {}

/** Returns a configuration with its own storage in memory. It writes nothing to ./storage. */
export function inMemory(): Configuration {
  const configuration = new Configuration({ persistStorage: false, memoryMbytes: 4096 })
  configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))
  configuration.useEventManager(new EventsWithoutSystemInfo(configuration))
  return configuration
}
