// A worker of a fleet in its own process:
//   node stopping-worker.ts REDIS_URL KEY_PREFIX DELAY_MS URL
// It requests one page. When its slot has come, and before it sends the request, it prints
// `stopped` and stops its own process, as a busy machine may do. It goes on after SIGCONT.
import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import { RobotsClient } from '@politely/fetcher'
import { politely } from '@politely/gate'
import { Redis } from 'ioredis'
import { RedisPacer } from '../src/index.ts'

const [url = '', keyPrefix = '', delayMs = '', page = ''] = process.argv.slice(2)
const pacer = new RedisPacer({ client: new Redis(url), keyPrefix, timeoutMs: 30_000 })
const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any' })
subscribe('politely:gate:start', () => {
  writeSync(1, 'stopped\n')
  process.kill(process.pid, 'SIGSTOP')
})
await politely(fetch, { robots, pacer, minDelayMs: Number(delayMs) })(page)
process.exit()
