// The frontier: which URLs are known, and which are still to be crawled. Shared by all workers, in
// the Redis of the jobs.
//
// Each origin has a list of pending URLs (the "back queue" of the crawler Mercator), and one BullMQ
// job while it has any. The job takes one URL at a time. Every step is one script, so that a worker
// may be killed between any two of them:
//
//   take      moves the next URL from `pending` to `taken`, or returns a URL that a
//             killed worker has left in `taken`.
//   finish    adds the links of the page, and removes its URL from `taken`.
//
// The job of an origin ends when `take` finds no URL. An origin whose job has ended gets a job of a
// new generation, because BullMQ ignores a new job with the id of one that exists, and the old one
// exists a moment longer.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'

/** The job of an origin that has URLs. */
export interface OriginJob {
  readonly origin: string
  readonly generation: number
  /** How often the next URL was requested without success. */
  readonly failures?: number
}

/** A URL, and the page that it was found on. */
export interface Found {
  readonly url: string
  /** The origin of the page. Undefined for the first URL of a crawl. */
  readonly page: string | undefined
}

export interface Progress {
  /** URLs that were added, each once. */
  readonly found: number
  /** URLs that were finished: fetched, refused by robots.txt, or failed. */
  readonly done: number
}

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

// ARGV: prefix, origin and entry to finish (or empty), then for each link its origin, its entry, and
// the hash of its URL
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

export class Frontier {
  readonly #redis: Redis
  readonly #prefix: string

  /**
   * @param prefix The beginning of all keys. All keys are on one node, like the keys of a
   * BullMQ queue.
   */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis
    this.#prefix = prefix
    redis.defineCommand('frontierTake', { numberOfKeys: 0, lua: TAKE })
    redis.defineCommand('frontierFinish', { numberOfKeys: 0, lua: FINISH })
  }

  /**
   * Returns the next URL of an origin. Undefined if its list is empty, or if a later job has the
   * origin: then the job ends.
   */
  async take({ origin, generation }: OriginJob): Promise<Found | undefined> {
    const entry = (await this.#call('frontierTake', [origin, `${generation}`])) as string | null
    if (entry === null) return undefined
    const [url = '', page] = entry.split(' ')
    return { url, page }
  }

  /**
   * Adds the links of a page that were never added before, and then marks its URL as done.
   * @param addJobs Adds the jobs of origins that need one. The URL is done only after that: if the
   * worker is killed before, the page is fetched again.
   */
  async finish(
    found: Found,
    links: readonly string[],
    addJobs: (origins: OriginJob[]) => Promise<unknown>,
  ): Promise<void> {
    const { origin } = new URL(found.url)
    const idle = await this.#finish(
      found,
      links.map((url) => ({ url, page: origin })),
    )
    if (idle.length === 0) return
    await addJobs(idle)
    await this.#finish(found, [])
  }

  /** Adds the first URL of a crawl, and its job. */
  async start(url: string, addJobs: (origins: OriginJob[]) => Promise<unknown>): Promise<void> {
    await addJobs(await this.#finish(undefined, [{ url, page: undefined }]))
  }

  async progress(): Promise<Progress> {
    const [found, done] = await this.#redis.mget(`${this.#prefix}found`, `${this.#prefix}done`)
    return { found: Number(found), done: Number(done) }
  }

  async #finish(found: Found | undefined, links: readonly Found[]): Promise<OriginJob[]> {
    const args = links.flatMap((link) => [new URL(link.url).origin, entryOf(link), hashOf(link.url)])
    const finished = found === undefined ? ['', ''] : [new URL(found.url).origin, entryOf(found)]
    const reply = (await this.#call('frontierFinish', [...finished, ...args])) as string[]
    const idle: OriginJob[] = []
    for (let i = 0; i < reply.length; i += 2) idle.push({ origin: reply[i] ?? '', generation: Number(reply[i + 1]) })
    return idle
  }

  async #call(command: 'frontierTake' | 'frontierFinish', args: readonly (string | Buffer)[]): Promise<unknown> {
    const commands = this.#redis as unknown as Record<
      typeof command,
      (...args: readonly (string | Buffer)[]) => Promise<unknown>
    >
    return commands[command](this.#prefix, ...args)
  }
}

/** How a URL is kept: a URL has no spaces. */
function entryOf({ url, page }: Found): string {
  return page === undefined ? url : `${url} ${page}`
}

/** 16 bytes for each known URL, however long it is. */
function hashOf(url: string): Buffer {
  return createHash('sha256').update(url).digest().subarray(0, 16)
}
