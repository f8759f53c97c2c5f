// A worker of a fleet in a process of its own:
//   node worker.ts REDIS_URL KEY_PREFIX LIBRARY NAME URLS…
// It prints `ready`, and starts when it gets a line. It prints `waits N` when it waits for N
// leases, and at the end its verdicts as JSON.
import { once } from 'node:events'
import { RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { RedisStore } from '../src/index.ts'

const [url = '', keyPrefix = '', library = '', name = '', ...urls] = process.argv.slice(2)
const client = library === 'ioredis' ? new Redis(url) : await createClient({ url }).connect()
const store = new RedisStore({ client, keyPrefix })
const robots = new RobotsClient({ userAgent: `${name}/1.0`, store, lookup: lookupIn(), timeoutMs: 30_000 })

console.log('ready')
await once(process.stdin, 'data')
let printed = 0
const timer = setInterval(() => {
  const { leaseWaits } = robots.counters
  if (leaseWaits > printed) console.log(`waits ${leaseWaits}`)
  printed = leaseWaits
}, 10)
const allowed = await Promise.all(urls.map((url) => robots.isAllowed(url)))
clearInterval(timer)
const { fetches, storeFailures } = robots.counters
console.log(JSON.stringify({ allowed, fetches, storeFailures }))
await robots.close()
process.exit()
