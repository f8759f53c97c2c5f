// Warns if Redis may evict the pace of a key: the next request for that key would come too early,
// and nothing could detect it. Redis evicts keys if it has a `maxmemory` and any other policy than
// `noeviction`, such as `allkeys-lru`.
import { publish } from '@politely/fleet'
import type { ReportingPacer } from '@politely/gate'
import type { Commands } from './client.ts'
import type { RedisEvictionMessage } from './pacer-events.ts'

/** @param key A key on the server to check. If Redis forbids INFO, nothing is checked. */
export async function warnOfEviction(commands: Commands, key: string, pacer: ReportingPacer): Promise<void> {
  const info = await commands.call(key, ['INFO', 'memory']).catch(() => '')
  const [, policy] = /maxmemory_policy:(\S+)/.exec(String(info)) ?? []
  const isLimited = /maxmemory:[1-9]/.test(String(info))
  if (!isLimited || policy === undefined || policy === 'noeviction') return
  publish<RedisEvictionMessage>('politely:redis:eviction', { pacer, policy })
  process.emitWarning(
    `Redis may evict the keys of a RedisPacer under its maxmemory-policy ${policy}, and delays would be shorter than asked; set maxmemory-policy to noeviction`,
    { type: 'PolitelyWarning', code: 'POLITELY_REDIS_EVICTION' },
  )
}
