// Measures the memory that entries take in Redis, and what a RedisStore costs a client. Starts a
// Redis of its own.
import { entryText, settle } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import { RobotsClient } from '@politely/fetcher'
import { RedisStore } from '@politely/redis'
import { findRedis } from '@politely/testkit/parts'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { countAllowed, separateCopy } from '../check-loops.ts'
import { CRAWLER } from '../crawler.ts'
import { type SiteFile, siteFiles } from '../files/site-file.ts'
import { urlsFor } from '../files/site-urls.ts'
import { type Contestant, measureInRounds, nowNs } from '../rounds.ts'
import type { Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

const SIZES = [200, 1_000, 4_000, 20_000, 100_000, 500_000]
const FILES_PER_SIZE = 20
const CHECKS_PER_SITE = 50
const HOUR_MS = 3_600_000

/** @param real Real files, if there are any. */
export async function storeRedis(plan: Plan, real: readonly SiteFile[] | undefined): Promise<Sheet[]> {
  if (findRedis() === undefined) throw new Error('the workload store-redis needs Redis: npm run parts redis')
  const server = await startRedis()
  const redis = new Redis(server.url)
  try {
    return [await measureMemory(plan, redis, real), await measureTime(plan, redis)]
  } finally {
    redis.disconnect()
    await server.stop()
  }
}

async function measureMemory(plan: Plan, redis: Redis, real: readonly SiteFile[] | undefined): Promise<Sheet> {
  const generated = Array.from(siteFiles(plan.files))
  const rows: Row[] = []
  const all = Buffer.concat(generated.map(({ bytes }) => bytes))
  for (const size of SIZES.filter((size) => size < all.length)) {
    const step = Math.floor((all.length - size) / FILES_PER_SIZE)
    const files = Array.from({ length: FILES_PER_SIZE }, (_, i) => all.subarray(i * step, i * step + size))
    const { bytes } = await bytesInRedis(redis, files)
    rows.push(rowOf(`generated files of ${size} bytes`, size, mean(bytes)))
  }
  const findings: Sheet['findings'][number][] = []
  for (const [name, files] of [['generated', generated] as const, ['real', real ?? []] as const]) {
    if (files.length === 0) continue
    const contents = files.map((file) => file.bytes)
    const lengths = contents.map(({ length }) => length)
    const { bytes, usedBytes } = await bytesInRedis(redis, contents)
    for (const share of [0.5, 0.99]) {
      const label = share === 0.5 ? 'median' : `${100 * share}th percentile`
      rows.push(rowOf(`${files.length} ${name} files, ${label}`, quantile(lengths, share), quantile(bytes, share)))
    }
    rows.push(rowOf(`${files.length} ${name} files, mean`, mean(lengths), mean(bytes)))
    const what = `RedisStore: all memory of Redis for one origin, ${name} files`
    findings.push({ what, value: usedBytes / files.length, unit: 'bytes', target: null })
  }
  return {
    workload: 'store redis, memory',
    over: 'own',
    title: 'store redis: the memory of entries in Redis (MEMORY USAGE of the key)',
    columns: [
      { name: 'file', unit: 'bytes' },
      { name: 'in Redis', unit: 'bytes' },
      { name: 'in Redis', unit: '× file' },
    ],
    rows,
    findings,
    notes: [],
  }
}

/**
 * Stores an entry for each file, each of another origin. Returns the bytes of each key, and by how
 * much the memory of Redis grew.
 */
async function bytesInRedis(redis: Redis, files: readonly Buffer[]): Promise<{ bytes: number[]; usedBytes: number }> {
  await redis.flushall()
  const store = new RedisStore({ client: redis })
  const before = await usedMemoryOf(redis)
  for (const [i, file] of files.entries()) {
    const origin = `https://www.site${i}.example`
    await store.set(origin, entryTextOf(origin, file), Date.now() + HOUR_MS)
  }
  const usedBytes = (await usedMemoryOf(redis)) - before
  const keys = await redis.keys('*')
  const bytes = await Promise.all(keys.map(async (key) => Number(await redis.memory('USAGE', key))))
  return { bytes, usedBytes }
}

/** Returns the text that a client stores for a fetched file. */
function entryTextOf(origin: string, file: Buffer): string {
  const url = `${origin}/robots.txt`
  const body = { bytes: file.toString('latin1'), truncated: false }
  const outcome = { kind: 'success', url, hops: [], status: 200, headers: {}, body } as const
  return entryText(settle(undefined, origin, outcome, Date.now(), defaultAccessPolicy))
}

async function usedMemoryOf(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
}

function measureTime(plan: Plan, redis: Redis): Promise<Sheet> {
  return withRobotsServer(plan.warmOrigins, async (port) => {
    const store = new RedisStore({ client: redis })
    const files = Array.from(siteFiles(plan.warmOrigins), (file, i) => ({
      ...file,
      origin: `http://site${i}.test:${port}`,
    }))
    const pages = files.map(({ origin }) => `${origin}/`)
    const urls = files.flatMap((file, i) => urlsFor(file, i + 1, CHECKS_PER_SITE))
    const newClient = (options: { store?: RedisStore }) =>
      new RobotsClient({ userAgent: `${CRAWLER}/1.0`, lookup: lookupIn(), ...options })
    const clients = [newClient({}), newClient({ store })]
    try {
      const warm = clients.map((client, i) => {
        const count = separateCopy(countAllowed, `warm ${i}`) as typeof countAllowed
        return contestant(urls.length, () => count((url) => client.isAllowed(url), urls))
      })
      const first = [{ store }, {}].map((options) =>
        contestant(pages.length, async () => {
          const client = newClient(options)
          await client.prefetch(pages)
          await client.close()
        }),
      )
      for (const client of clients) await client.prefetch(pages)
      const medians = await measureInRounds([...warm, ...first], 1, plan.rounds)
      const names = [
        'known, without a store',
        'known, with RedisStore',
        'first of a site, from Redis',
        'first of a site, fetched',
      ]
      const microseconds = medians.map(([ns]) => (ns ?? Number.NaN) / 1e3)
      return {
        workload: 'store redis, time',
        over: 'own',
        title: `store redis: checks by one worker, ${files.length} sites`,
        columns: [
          { name: 'one check', unit: 'µs' },
          { name: 'checks', unit: 'per second' },
        ],
        rows: names.map((name, i) => ({
          name,
          cells: [microseconds[i] ?? null, Math.round(1e6 / (microseconds[i] ?? Number.NaN))],
        })),
        findings: [],
        notes: [],
      }
    } finally {
      for (const client of clients) await client.close()
    }
  })
}

function contestant(checks: number, run: () => Promise<unknown>): Contestant {
  return {
    measure: async () => {
      const start = nowNs()
      await run()
      return (nowNs() - start) / checks
    },
  }
}

function rowOf(name: string, file: number, inRedis: number): Row {
  return { name, cells: [Math.round(file), Math.round(inRedis), inRedis / file] }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}
