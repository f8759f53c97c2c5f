// A cluster of three Redis servers, and clients of both libraries. They end with their test.
import { type RedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { expect, onTestFinished } from 'vitest'
import type { RedisClient } from '../src/index.ts'
import { connectIoredis } from './clients.ts'

/** The last hash slot of each server. */
const LAST_SLOTS = [5_460, 10_921, 16_383]

export interface RedisCluster {
  readonly servers: readonly RedisServer[]
  /** One of ioredis, then one of node-redis. */
  readonly clients: readonly RedisClient[]
}

export async function connectCluster(): Promise<RedisCluster> {
  const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']
  const servers = await Promise.all(LAST_SLOTS.map(() => startRedis({ args })))
  onTestFinished(async () => void (await Promise.all(servers.map(({ stop }) => stop()))))
  const admins = await Promise.all(servers.map(({ url }) => connectIoredis(url)))
  for (const [i, admin] of admins.entries()) {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', (LAST_SLOTS[i - 1] ?? -1) + 1, LAST_SLOTS[i] as number)
    if (i > 0) await admins[0]?.call('CLUSTER', 'MEET', '127.0.0.1', servers[i]?.port as number)
  }
  const infos = () => Promise.all(admins.map((admin) => admin.call('CLUSTER', 'INFO')))
  const isReady = expect.stringMatching(/cluster_state:ok[\s\S]*cluster_known_nodes:3/)
  await expect.poll(infos).toEqual(admins.map(() => isReady))

  const ioredis = new Cluster(servers.map(({ host, port }) => ({ host, port })))
  ioredis.on('error', () => undefined)
  onTestFinished(() => ioredis.disconnect())
  const nodeRedis = createCluster({ rootNodes: servers.map(({ url }) => ({ url })) })
  nodeRedis.on('error', () => undefined)
  onTestFinished(() => nodeRedis.destroy())
  await nodeRedis.connect()
  return { servers, clients: [ioredis, nodeRedis] }
}
