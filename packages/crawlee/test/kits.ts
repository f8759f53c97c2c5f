// What the tests of this package have in common: crawlers that keep nothing on disk and say nothing.
import { Configuration, LogLevel, log } from '@crawlee/basic'
import { MemoryStorage } from '@crawlee/memory-storage'
import type { Part } from '@politely/testkit'

log.setLevel(LogLevel.OFF)

/** A memory of its own for each crawler; nothing is written to ./storage. */
export function inMemory(): Configuration {
  const configuration = new Configuration({ persistStorage: false })
  configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))
  return configuration
}

/** For Playwright and Puppeteer alike. */
export function launchOptions(chromium: Part | undefined): {
  executablePath: string
  env: Record<string, string>
  args: string[]
  headless: boolean
} {
  const env = Object.entries({ ...process.env, ...chromium?.env })
  return {
    executablePath: chromium?.command ?? '',
    env: Object.fromEntries(env.map(([name, value]) => [name, value ?? ''])),
    args: ['--no-sandbox'],
    headless: true,
  }
}
