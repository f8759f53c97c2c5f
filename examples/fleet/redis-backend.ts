// A crawl in Redis. BullMQ, the store and the pacer have a connection each, so that their commands
// can be counted.
import { RedisPacer, RedisStore } from '@politely/redis'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Backend, BackendOptions, FinishedUrl, FoundLink, FrontierCalls } from './backend.ts'
import { Frontier, type OriginJob, type Progress } from './frontier.ts'

// ARGV: prefix, origin, generation
const TAKE = `
local prefix, origin, generation = ARGV[1], ARGV[2], ARGV[3]
if (redis.call('HGET', prefix .. 'generations', origin) or '0') ~= generation then return false end
local taken = prefix .. 'taken:' .. origin
local entry = redis.call('LINDEX', taken, 0) or redis.call('LMOVE', prefix .. 'pending:' .. origin, taken, 'LEFT', 'RIGHT')
if entry then
  redis.call('SADD', prefix .. 'active', origin)
  return entry
end
redis.call('HINCRBY', prefix .. 'generations', origin, 1)
redis.call('SREM', prefix .. 'active', origin)
return false`

// ARGV: prefix, origin and entry to finish (or empty), then for each link its origin, its entry,
// and the hash of its URL
const FINISH = `
local prefix, origin, entry = ARGV[1], ARGV[2], ARGV[3]
local idle, listed = {}, {}
for i = 4, #ARGV, 3 do
  local target = ARGV[i]
  if redis.call('SADD', prefix .. 'seen:' .. target, ARGV[i + 2]) == 1 then
    redis.call('RPUSH', prefix .. 'pending:' .. target, ARGV[i + 1])
    redis.call('INCR', prefix .. 'found')
  end
  if not listed[target] and redis.call('SISMEMBER', prefix .. 'active', target) == 0
    and redis.call('EXISTS', prefix .. 'pending:' .. target) == 1 then
    listed[target] = true
    table.insert(idle, target)
    table.insert(idle, redis.call('HGET', prefix .. 'generations', target) or '0')
  end
end
if #idle == 0 and redis.call('LREM', prefix .. 'taken:' .. origin, 1, entry) == 1 then
  redis.call('INCR', prefix .. 'done')
end
return idle`

/** The lists of URLs. All keys are on one node, like the keys of a BullMQ queue. */
class RedisFrontier implements FrontierCalls {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis
    this.#prefix = prefix
    redis.defineCommand('frontierTake', { numberOfKeys: 0, lua: TAKE })
    redis.defineCommand('frontierFinish', { numberOfKeys: 0, lua: FINISH })
  }

  async take(origin: string, generation: number): Promise<string | undefined> {
    return ((await this.#call('frontierTake', [origin, `${generation}`])) as string | null) ?? undefined
  }

  async finish(finished: FinishedUrl | undefined, links: readonly FoundLink[]): Promise<readonly OriginJob[]> {
    const { origin = '', entry = '' } = finished ?? {}
    const args = links.flatMap((link) => [link.origin, link.entry, link.hash])
    const reply = (await this.#call('frontierFinish', [origin, entry, ...args])) as string[]
    const idle: OriginJob[] = []
    for (let i = 0; i < reply.length; i += 2) idle.push({ origin: reply[i] ?? '', generation: Number(reply[i + 1]) })
    return idle
  }

  async progress(): Promise<Progress> {
    const [found, done] = await this.#redis.mget(`${this.#prefix}found`, `${this.#prefix}done`)
    return { found: Number(found), done: Number(done) }
  }

  async #call(command: 'frontierTake' | 'frontierFinish', args: readonly (string | Buffer)[]): Promise<unknown> {
    const commands = this.#redis as unknown as Record<
      typeof command,
      (...args: readonly (string | Buffer)[]) => Promise<unknown>
    >
    return commands[command](this.#prefix, ...args)
  }
}

export function connectRedis({ jobsUrl, sharedUrl, prefix }: BackendOptions): Backend {
  const [jobs, ofStore, ofPacer] = [connect(jobsUrl), connect(sharedUrl), connect(sharedUrl)]
  const shared = ofStore.client
  const pacer = new RedisPacer({ client: ofPacer.client, keyPrefix: prefix })
  const jobsPrefix = `${prefix}jobs`
  return {
    frontier: new Frontier(new RedisFrontier(jobs.client, `${prefix}frontier:`)),
    store: new RedisStore({ client: shared, keyPrefix: prefix }),
    pacer,
    queue: async (name) => new Queue(name, { connection: jobs.client, prefix: jobsPrefix, skipVersionCheck: true }),
    worker: async (name, run, options) =>
      new Worker(name, run, { ...options, connection: jobs.client, prefix: jobsPrefix }),
    sent: () => ({
      jobs: jobs.sent(),
      store: ofStore.sent(),
      pacer: pacer.counters.calls,
      pacerTrips: ofPacer.sent(),
    }),
    shared: async () => {
      const info = await shared.info('memory').catch(() => '')
      const keys = await keysOf(shared, `${prefix}{`)
      const lifetimes = await Promise.all(keys.map((key) => shared.pttl(key)))
      return {
        bytes: Number(/used_memory:(\d+)/.exec(info)?.[1] ?? 0),
        keys: keys.length,
        withoutExpiry: keys.filter((key, i) => lifetimes[i] === -1 && !key.endsWith(':epoch')),
      }
    },
    delete: async () => {
      for (const key of await keysOf(shared, prefix)) await shared.unlink(key)
    },
    close: async () => {
      pacer.close()
      for (const { client } of [jobs, ofStore, ofPacer]) client.disconnect()
    },
  }
}

/**
 * Connects to a Redis and counts the commands sent. A lost connection is opened again for as long
 * as it takes.
 */
function connect(url: string): { client: Redis; sent(): number } {
  const client = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true })
  client.on('error', () => undefined) // it connects again by itself
  let sent = 0
  const send = client.sendCommand.bind(client)
  client.sendCommand = (...args) => {
    sent++
    return send(...args)
  }
  return { client, sent: () => sent }
}

async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1000 })) keys.push(...found)
  return keys
}
