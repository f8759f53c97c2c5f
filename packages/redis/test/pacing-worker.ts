// A worker of a fleet in a process of its own:
//   node pacing-worker.ts REDIS_URL KEY_PREFIX LIBRARY DELAY_MS REQUESTS KEYS…
// For each key it makes this many requests, one after another. It prints `ready`, and starts when
// it gets a line. It prints `KEY TIME` for each request, with the time of its start by the
// monotonic clock of the machine, and at the end its counters as JSON.
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Ticket } from '@politely/gate'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { RedisPacer } from '../src/index.ts'

const [url = '', keyPrefix = '', library = '', delayMs = '', requests = '', ...keys] = process.argv.slice(2)
const client = library === 'ioredis' ? new Redis(url) : await createClient({ url }).connect()
const pacer = new RedisPacer({ client, keyPrefix, timeoutMs: 30_000 })
const limits = { ownDelayMs: Number(delayMs), maxDelayMs: undefined, crawlDelayMs: undefined }

console.log('ready')
await once(process.stdin, 'data')
await Promise.all(
  keys.map(async (key) => {
    let ticket: Ticket | undefined
    for (let n = 0; n < Number(requests); ) {
      const calledAt = process.hrtime.bigint()
      const reply = await pacer.reserve(key, limits, ticket)
      const at = process.hrtime.bigint()
      ticket = reply.kind === 'wait' ? reply.ticket : undefined
      if (reply.kind === 'slot') {
        // As the gate does: on a busy machine, the process may be stopped after the reply.
        if (Number(at - calledAt) / 1e6 > (reply.startWithinMs ?? 0)) {
          await pacer.cancel(key, reply.ticket)
          continue
        }
        console.log(`${key} ${Number(at) / 1e6}`)
        n++
      }
      await setTimeout(Math.ceil(Math.max(reply.kind === 'slot' ? reply.delay.delayMs : reply.waitMs, 1)))
    }
  }),
)
console.log(JSON.stringify(pacer.counters))
process.exit()
