// @module-tag full
// A pacer whose ioredis client finds the server through a sentinel. When the server dies, the
// sentinel lets the replica take over.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import { noRedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { connectIoredis, openPacer } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

const limits: PaceLimits = { ownDelayMs: 300_000, maxDelayMs: undefined, crawlDelayMs: undefined }

async function startServer(args: readonly string[], config?: string) {
  const redis = await startRedis(config === undefined ? { args } : { args, config })
  onTestFinished(redis.stop)
  return redis
}

test.skipIf(noRedisServer())(
  'after a failover by a sentinel, the pacer uses the new server and no visit is forgotten',
  async () => {
    const primary = await startServer([])
    const replica = await startServer([
      '--repl-diskless-sync-delay',
      '0',
      '--replicaof',
      `${primary.host} ${primary.port}`,
    ])
    const toReplica = await connectIoredis(replica.url)
    await expect.poll(() => toReplica.info('replication')).toContain('master_link_status:up')
    const sentinel = await startServer(
      ['--sentinel'],
      `sentinel monitor main ${primary.host} ${primary.port} 1
sentinel down-after-milliseconds main 500
sentinel failover-timeout main 1000
`,
    )
    const toSentinel = await connectIoredis(sentinel.url)
    await expect.poll(() => toSentinel.call('SENTINEL', 'REPLICAS', 'main')).toHaveLength(1)

    const client = new Redis({ sentinels: [sentinel], name: 'main', maxRetriesPerRequest: null })
    client.on('error', () => undefined)
    onTestFinished(() => client.disconnect())
    await knowLongAgo({ client, keyPrefix: 'p:' }, ['visited'])
    const pacer = openPacer({ client, keyPrefix: 'p:', timeoutMs: 300 })
    expect(await pacer.reserve('visited', limits)).toMatchObject({ kind: 'slot' })
    await primary.kill()
    let reply = await pacer.reserve('visited', limits)
    while (reply.kind === 'wait' && reply.because === 'pacer-failure') {
      await sleep(reply.waitMs)
      reply = await pacer.reserve('visited', limits)
    }
    expect(reply).toMatchObject({ kind: 'wait', because: 'own-delay' })
    expect(await toReplica.info('replication')).toContain('role:master')
  },
)
