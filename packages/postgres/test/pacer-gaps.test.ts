// @module-tag slow
// Gaps between the requests of a fleet that paces by a PostgresPacer, on a real server: never
// shorter than the delay, whatever Postgres and the workers do.
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { circuitCases, pacerCases, storeCasesFor } from '@politely/testing/cases'
import { storeAbilities } from '@politely/testkit/cases/store-abilities'
import { crawlDuring, gapsOf, type PacedWorker, startPacedWorker, startsOf } from '@politely/testkit/paced-crawl'
import { crawlKey } from '@politely/testkit/paced-worker'
import { seededRandom } from '@politely/testkit/random-robots'
import {
  noPgBouncer,
  noPostgres,
  noPostgresServer,
  type PostgresServer,
  usePostgres,
} from '@politely/testkit/servers/postgres'
import { startTcpProxy } from '@politely/testkit/servers/tcp-proxy'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate, PostgresPacer, PostgresStore } from '../src/index.ts'
import { knowLongAgo, openPool, pacerOn, startServer } from './server.ts'

const DELAY_MS = 60
/** The delay while the server restarts. */
const LONGER_MS = 150
/** After a loss, the first slot of a key comes later by this. */
const TIMEOUT_MS = 300

/** A new schema on the shared server. It is dropped with the test. */
async function newSchema() {
  const { url, schema } = await usePostgres()
  const client = openPool(url)
  await migrate(client, { schema })
  const drop = openPool(url)
  onTestFinished(async () => void (await drop.query(`DROP SCHEMA ${schema} CASCADE`)))
  return { url, schema, client }
}

/** Crawls one key with a worker for each URL while `disturb` runs, and checks the gaps. */
async function checkGapsDuring(
  urls: readonly string[],
  disturb: (startsMore: (count: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const pacers = urls.map((url) => pacerOn(url, { timeoutMs: TIMEOUT_MS }))
  const starts = await crawlDuring(pacers, LONGER_MS, disturb)
  expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(LONGER_MS)
}

const epochOf = async (server: PostgresServer) => Number(await server.psql('SELECT start FROM politely.epoch'))

describe.skipIf(noPostgres())('on a server', { tags: 'full' }, () => {
  test.for([...pacerCases, ...circuitCases])('$name', async ({ run }) => {
    const { url, schema, client } = await newSchema()
    await knowLongAgo(url, ['k', 'one', 'two'], schema)
    let pacer: PostgresPacer | undefined
    await run({
      open: (now) => {
        pacer = new PostgresPacer({ client, schema, now, timeoutMs: 30_000 })
        return pacer
      },
    })
    expect(pacer?.counters).toMatchObject({ failures: 0, repeats: 0 })
  })

  test.for(storeCasesFor(storeAbilities.PostgresStore))('store: $name', async ({ run }) => {
    const { schema, client } = await newSchema()
    await run({ open: (now) => new PostgresStore({ client, schema, now }) })
  })
})

describe.skipIf(noPostgres())('a fleet of four processes', { tags: 'full' }, () => {
  const script = join(import.meta.dirname, 'pacing-worker.ts')

  test('keeps the delay of each key', async () => {
    const { url, schema } = await newSchema()
    const keys = Array.from({ length: 5 }, (_, i) => `k${i}`)
    await knowLongAgo(url, keys, schema)
    const requests = 25
    const args = [url, schema, `${DELAY_MS}`, `${requests}`, ...keys]
    const workers = await Promise.all([1, 2, 3, 4].map(() => startPacedWorker(script, args)))
    for (const { start } of workers) start()
    await Promise.all(workers.map(({ ended }) => ended))
    const starts = startsOf(workers)
    for (const key of keys) {
      expect(starts.get(key)).toHaveLength(workers.length * requests)
      expect(Math.min(...gapsOf(starts.get(key) ?? []))).toBeGreaterThanOrEqual(DELAY_MS)
    }
    const counters = workers.map((worker) => JSON.parse(worker.output().trim().split('\n').at(-1) ?? ''))
    expect(counters.reduce((sum, { failures }) => sum + failures, 0)).toBe(0)
    const calls = counters.reduce((sum, counter) => sum + counter.calls, 0)
    expect(calls / (workers.length * keys.length * requests)).toBeLessThan(4)
  })

  test('keeps the delay and goes on while 30 workers are killed', async () => {
    const { url, schema } = await newSchema()
    const keys = ['k0', 'k1', 'k2']
    await knowLongAgo(url, keys, schema)
    const random = seededRandom(1)
    const startOne = () => startPacedWorker(script, [url, schema, `${DELAY_MS}`, 'Infinity', ...keys])
    const running = await Promise.all([1, 2, 3, 4].map(startOne))
    const all: PacedWorker[] = [...running]
    for (const { start } of running) start()
    for (let kill = 0; kill < 30; kill++) {
      const n = Math.floor(random() * running.length)
      const worker = running[n] as PacedWorker
      while (startsOf([worker]).size === 0) await sleep(5)
      await sleep(DELAY_MS * random())
      worker.process.kill('SIGKILL')
      await worker.ended
      running[n] = await startOne()
      running[n].start()
      all.push(running[n])
    }
    for (const worker of running) while (startsOf([worker]).size < keys.length) await sleep(5) // no key is stuck
    for (const worker of running) worker.process.kill('SIGKILL')
    for (const [, starts] of startsOf(all)) expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(DELAY_MS)
  })
})

describe.skipIf(noPostgresServer())('no gap is shorter than the delay', { tags: 'full' }, () => {
  test.for(['fast', 'immediate'] as const)('when Postgres restarts (%s), and each loss counts once', async (how) => {
    const server = await startServer()
    await checkGapsDuring([server.url, server.url, server.url], async (startsMore) => {
      for (let round = 0; round < 5; round++) {
        await startsMore(3)
        await server.restart(how)
      }
      await startsMore(3)
      const epoch = await epochOf(server)
      const pacer = pacerOn(server.url, { timeoutMs: TIMEOUT_MS })
      const never = await pacer.estimate(
        'never visited',
        { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined },
        0,
      )
      expect(never.waitMs).toBeLessThanOrEqual(1_000 + TIMEOUT_MS + 2)
      await startsMore(3)
      expect(await epochOf(server)).toBe(epoch)
    })
  })

  test('after a restart, the first slot of a key comes at most one delay and two seconds later', async () => {
    const server = await startServer()
    const limits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
    for (const how of ['fast', 'immediate'] as const) {
      await knowLongAgo(server.url, ['k'])
      await server.restart(how)
      const pacer = pacerOn(server.url, { timeoutMs: 2_000 })
      const first = await pacer.reserve('k', limits)
      expect(first).toMatchObject({ kind: 'wait', because: 'own-delay' })
      if (first.kind === 'wait') expect(first.waitMs).toBeLessThanOrEqual(3_000 + 1_000) // and the allowance
    }
  })

  test('when a replica takes over', async () => {
    let primary = await startServer()
    const proxies = await Promise.all([1, 2, 3].map(() => startTcpProxy(primary.port)))
    const urls = proxies.map(({ host }) => primary.url.replace(`127.0.0.1:${primary.port}`, host))
    await checkGapsDuring(urls, async (startsMore) => {
      for (let round = 0; round < 2; round++) {
        await startsMore(3)
        const replica = await primary.replica()
        await startsMore(3)
        await primary.stop('immediate')
        await replica.promote()
        for (const proxy of proxies) {
          proxy.isCut = true
          proxy.port = replica.port
          proxy.isCut = false
        }
        expect(await replica.psql('SELECT count(*) FROM politely.pace')).toMatch(/^[01]$/) // the paces were not copied
        primary = replica
      }
    })
  })

  const tables = ['pace', 'epoch', 'circuit', 'robots', 'lease', 'kept_slots', 'sweep', 'version'].map(
    (name) => `politely.${name}`,
  )
  test.for([
    ['of the whole schema', ['--clean', '--if-exists'], ''],
    ['of its data, after TRUNCATE,', ['--data-only'], `TRUNCATE ${tables.join(', ')}`],
    ['of its data, after DELETE,', ['--data-only'], tables.map((table) => `DELETE FROM ${table}`).join(';')],
  ] as const)('when a dump %s is restored into the running server', async ([, options, before]) => {
    const server = await startServer()
    const files = ['dump', 'sql'].map((type) => join(tmpdir(), `politely-${server.port}.${type}`)) as [string, string]
    onTestFinished(async () => void (await Promise.all(files.map((file) => rm(file, { force: true })))))
    const [dump, script] = files
    await checkGapsDuring([server.url, server.url, server.url], async (startsMore) => {
      for (let round = 0; round < 2; round++) {
        await startsMore(2)
        const epoch = await epochOf(server)
        await server.program('pg_dump', ['-Fc', '--schema=politely', '-f', dump, server.url])
        await server.program('pg_restore', [...options, '-f', script, dump])
        await startsMore(3)
        await server.program('psql', [
          '-X',
          '-q',
          '-1',
          '-v',
          'ON_ERROR_STOP=1',
          '-c',
          before,
          '-f',
          script,
          server.url,
        ])
        await startsMore(3)
        expect(await epochOf(server)).toBeGreaterThan(epoch)
      }
    })
  })

  test.skipIf(noPgBouncer())('behind PgBouncer in transaction mode, which restarts', async () => {
    const server = await startServer()
    const bouncer = await server.bouncer({ poolSize: 2 })
    await checkGapsDuring([bouncer.url, bouncer.url, bouncer.url], async (startsMore) => {
      await startsMore(6)
      await server.restart('immediate')
      await startsMore(6)
    })
  })

  test('while Postgres is slow', async () => {
    const server = await startServer()
    await knowLongAgo(server.url, ['k'])
    const proxies = await Promise.all([1, 2, 3].map(() => startTcpProxy(server.port)))
    const random = seededRandom(1)
    for (const proxy of proxies) proxy.delayMs = () => 300 * random() ** 3
    const starts: number[] = []
    const pacers = proxies.map(({ host }) =>
      pacerOn(server.url.replace(`127.0.0.1:${server.port}`, host), { timeoutMs: 2_000 }),
    )
    await Promise.all(
      pacers.map((pacer) =>
        crawlKey(
          pacer,
          'k',
          DELAY_MS,
          (at) => starts.push(at),
          () => starts.length >= 20,
        ),
      ),
    )
    expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(DELAY_MS)
  })
})
