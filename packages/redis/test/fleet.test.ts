// @module-tag full
// Workers that share a RedisStore: each robots.txt is fetched once, also when workers die or Redis
// fails.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { RobotsClient, type StoreFailure } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { noRedis, noRedisServer, startRedis, useRedis } from '@politely/testkit/servers/redis'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RedisStore } from '../src/index.ts'
import { connectIoredis } from './clients.ts'

/** How many processes a fleet has. */
const WORKERS = 4

const rules: Reply = { status: 200, body: 'User-agent: *\nDisallow: /page\n' }

interface Worker {
  readonly name: string
  readonly pid: number
  /** Everything printed so far. */
  output(): string
  start(): void
  /** The last line printed. */
  readonly result: Promise<{ allowed: boolean[]; fetches: number; storeFailures: number }>
}

/** Starts workers that check these URLs, and resolves when all are ready. */
async function startWorkers(count: number, url: string, keyPrefix: string, urls: readonly string[]): Promise<Worker[]> {
  const workers = Array.from({ length: count }, (_, i): Worker => {
    const name = `Worker${String.fromCharCode(65 + i)}`
    const library = i % 2 === 0 ? 'ioredis' : 'node-redis'
    const child = spawn(process.execPath, [
      join(import.meta.dirname, 'worker.ts'),
      url,
      keyPrefix,
      library,
      name,
      ...urls,
    ])
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const result = new Promise<Awaited<Worker['result']>>((resolve, reject) =>
      child.on('close', () => {
        const last = output.trim().split('\n').at(-1) ?? ''
        if (last.startsWith('{"allowed"')) resolve(JSON.parse(last))
        else reject(new Error(`${name} printed: ${output}`))
      }),
    )
    result.catch(() => undefined)
    return { name, pid: child.pid ?? 0, output: () => output, start: () => void child.stdin.write('start\n'), result }
  })
  await Promise.all(
    workers.map(({ output, result }) => Promise.race([until(() => output().includes('ready')), result])),
  )
  return workers
}

/** Returns for how many leases a worker waits. */
function waitsOf(worker: Worker): number {
  return Number(worker.output().match(/waits (\d+)\n(?!.*waits)/s)?.[1] ?? 0)
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function newSites(): Promise<Sites> {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  return sites
}

describe.skipIf(noRedis())('a fleet', () => {
  test('of four processes fetches the robots.txt of each of 50 origins once', async () => {
    const redis = await useRedis()
    const sites = await newSites()
    const response = Promise.withResolvers<Reply>()
    const origins = Array.from({ length: 50 }, (_, i) => `http://n${i}.test:PORT`)
    for (const origin of origins) sites.respond(`${origin}/robots.txt`, response.promise)
    const urls = origins.map((origin) => sites.withPort(`${origin}/page`))
    const workers = await startWorkers(WORKERS, redis.url, redis.keyPrefix, urls)
    for (const { start } of workers) start()
    // Every worker wants every origin. No response is sent before one of them fetches it and the
    // others wait.
    await until(() => workers.reduce((sum, worker) => sum + waitsOf(worker), 0) === (WORKERS - 1) * origins.length)
    response.resolve(rules)
    const results = await Promise.all(workers.map(({ result }) => result))
    for (const { allowed, storeFailures } of results) {
      expect(allowed).toEqual(Array(origins.length).fill(false))
      expect(storeFailures).toBe(0)
    }
    expect(sites.requestedUrls.toSorted()).toEqual(origins.map((origin) => `${origin}/robots.txt`).sort())
    expect(results.reduce((sum, { fetches }) => sum + fetches, 0)).toBe(origins.length)
    const client = await connectIoredis(redis.url)
    expect(await client.keys(`${redis.keyPrefix}*:lease`)).toEqual([])
  })

  test('whose fetching process is killed waits until its lease expires, and one other process fetches', async () => {
    const redis = await useRedis()
    const sites = await newSites()
    const robotsUrl = 'http://a.test:PORT/robots.txt'
    sites.respond(robotsUrl, new Promise<Reply>(() => undefined), rules)
    const workers = await startWorkers(WORKERS, redis.url, redis.keyPrefix, [sites.withPort('http://a.test:PORT/page')])
    for (const { start } of workers) start()
    await until(
      () => sites.requests.length === 1 && workers.filter((worker) => waitsOf(worker) === 1).length === WORKERS - 1,
    )
    const [holder] = workers.filter(({ name }) => sites.requests[0]?.headers['user-agent']?.startsWith(name))
    process.kill(holder?.pid ?? 0, 'SIGKILL')
    await expect(holder?.result).rejects.toThrow()

    const client = await connectIoredis(redis.url)
    const [lease = ''] = await client.keys(`${redis.keyPrefix}*:lease`)
    expect(await client.pttl(lease)).toBeGreaterThan(0) // it expires by itself
    expect(sites.requests).toHaveLength(1)
    await client.pexpire(lease, 50)
    const others = workers.filter((worker) => worker !== holder)
    for (const { allowed } of await Promise.all(others.map(({ result }) => result))) expect(allowed).toEqual([false])
    expect(sites.requests).toHaveLength(2)
    expect(await client.exists(lease)).toBe(0)
  })

  test('keeps the lease of the next holder when a late one releases its own', async () => {
    const redis = await useRedis()
    const sites = await newSites()
    const responses = [Promise.withResolvers<Reply>(), Promise.withResolvers<Reply>()]
    sites.respond('http://a.test:PORT/robots.txt', ...responses.map(({ promise }) => promise))
    const client = await connectIoredis(redis.url)
    const check = (name: string) => {
      const store = new RedisStore({ client, keyPrefix: redis.keyPrefix })
      const robots = new RobotsClient({ userAgent: `${name}/1.0`, store, lookup: lookupIn() })
      onTestFinished(() => robots.close())
      return robots.isAllowed(sites.withPort('http://a.test:PORT/page'))
    }
    const late = check('Late')
    await until(() => sites.requests.length === 1)
    const [lease = ''] = await client.keys(`${redis.keyPrefix}*:lease`)
    await client.del(lease) // as if it had expired
    const next = check('Next')
    await until(() => sites.requests.length === 2)
    const token = await client.get(lease)
    responses[0]?.resolve(rules)
    expect(await late).toBe(false)
    expect(await client.get(lease)).toBe(token)
    responses[1]?.resolve(rules)
    expect(await next).toBe(false)
    expect(await client.exists(lease)).toBe(0)
  })
})

interface FailureCase {
  readonly name: string
  readonly args?: readonly string[]
  /** Makes the server fail. */
  readonly fail?: (client: Redis, stop: () => Promise<void>) => Promise<unknown>
  readonly operations: readonly StoreFailure['operation'][]
  /** A part of the message of all errors. */
  readonly error: string
}

const failures: readonly FailureCase[] = [
  { name: 'is stopped', fail: (_, stop) => stop(), operations: ['get', 'lease', 'set'], error: '' },
  { name: 'is full', args: ['--maxmemory', '100kb'], operations: ['lease', 'set'], error: 'OOM' },
  {
    name: 'is a read-only replica',
    fail: (client) => client.replicaof('127.0.0.1', 1),
    operations: ['lease', 'set'],
    error: 'READONLY',
  },
  {
    name: 'has lost the right to write',
    fail: (client) => client.call('ACL', 'SETUSER', 'default', '-set'),
    operations: ['lease', 'set'],
    error: 'NOPERM',
  },
]

test.skipIf(noRedisServer()).for(failures)('the client fetches by itself when Redis $name', async (row) => {
  const { args = [], fail, operations, error } = row
  const server = await startRedis({ args })
  onTestFinished(server.stop)
  const client = new Redis(server.url, { enableOfflineQueue: false, lazyConnect: true })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  await client.connect()
  await fail?.(client, server.stop)
  const sites = await newSites()
  sites.respond('http://a.test:PORT/robots.txt', rules)
  const robots = new RobotsClient({ userAgent: 'X/1.0', store: new RedisStore({ client }), lookup: lookupIn() })
  onTestFinished(() => robots.close())
  const failed: StoreFailure[] = []
  robots.events.on('store-failed', (failure) => void failed.push(failure))
  expect(await robots.isAllowed(sites.withPort('http://a.test:PORT/page'))).toBe(false)
  expect(sites.requests).toHaveLength(1)
  expect(failed.map(({ operation }) => operation)).toEqual(operations)
  for (const failure of failed) expect(String(failure.error)).toContain(error)
})
