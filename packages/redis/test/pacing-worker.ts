// A worker of a fleet in a process of its own:
//   node pacing-worker.ts REDIS_URL KEY_PREFIX LIBRARY DELAY_MS REQUESTS KEYS…
import { runPacedWorker } from '@politely/testkit/paced-worker'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { RedisPacer } from '../src/index.ts'

const [url = '', keyPrefix = '', library = '', delayMs = '', requests = '', ...keys] = process.argv.slice(2)
const client = library === 'ioredis' ? new Redis(url) : await createClient({ url }).connect()
const pacer = new RedisPacer({ client, keyPrefix, timeoutMs: 30_000 })
await runPacedWorker(pacer, { delayMs: Number(delayMs), requests: Number(requests), keys })
