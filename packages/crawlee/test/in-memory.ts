// Configuration for crawlers in tests: no files on disk, no log, no measurement of the system's
// load.
import { Configuration, EventManager, LogLevel, log } from '@crawlee/basic'
import { MemoryStorage } from '@crawlee/memory-storage'

log.setLevel(LogLevel.OFF)

/**
 * Emits no `systemInfo`. Crawlee's own event manager starts `ps` for each one: at the start of a
 * crawl and then each second.
 */
class EventsWithoutSystemInfo extends EventManager {}

/** Returns a configuration with its own storage in memory. It writes nothing to ./storage. */
export function inMemory(): Configuration {
  // Without `memoryMbytes`, each crawl would start `ps` to find the limit.
  const configuration = new Configuration({ persistStorage: false, memoryMbytes: 4096 })
  configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))
  configuration.useEventManager(new EventsWithoutSystemInfo(configuration))
  return configuration
}

/**
 * Options of a browser pool. Crawlee makes the fingerprint of a browser from a large model, which
 * takes a third of the time of a short crawl.
 */
export const withoutFingerprints = { useFingerprints: false }
