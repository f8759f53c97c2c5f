// @module-tag slow
// @module-tag full
import { setTimeout } from 'node:timers/promises'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { expect, onTestFinished, test } from 'vitest'
import type { OriginJob } from '../frontier.ts'
import { JobQueues } from '../job-queues.ts'
import { connectPostgres, migratePostgres } from '../postgres-backend.ts'

test.skipIf(noPostgresServer())('a worker that starts while Postgres is down works when Postgres is back', async () => {
  const server = await startPostgres()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const prefix = 'fleet-test:'
  await migratePostgres(server.url, prefix)
  await server.stop('immediate')

  const backend = connectPostgres({ backend: 'postgres', jobsUrl: server.url, sharedUrl: server.url, prefix })
  onTestFinished(() => backend.close())
  const jobs: OriginJob[] = []
  const opening = Promise.all([
    backend.worker(JobQueues.nameOf(0), async ({ data }) => void jobs.push(data), { concurrency: 1 }),
    JobQueues.open(backend, 1),
  ])
  await setTimeout(500)
  await server.restart('immediate')
  const [worker, queues] = await opening
  onTestFinished(async () => {
    await worker.close()
    await queues.close()
  })
  const job = { origin: 'http://a.test', generation: 0 }
  await queues.add([job])
  await expect.poll(() => jobs, { timeout: 10_000 }).toEqual([job])
})
