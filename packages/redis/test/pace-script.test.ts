// The script as a function: the same requests and replies as the SQL functions of
// @politely/postgres.
import { randomUUID } from 'node:crypto'
import type { CircuitChange, PaceRequest } from '@politely/fleet'
import { paceCallCases } from '@politely/testkit/cases/pace-calls'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import { commandsOf } from '../src/client.ts'
import { redisTransport } from '../src/redis-transport.ts'
import { connectIoredis } from './clients.ts'

/** The names of operations that are other words in SQL. */
const OPERATIONS: Readonly<Record<string, string>> = { cancel_wait: 'cancelWait', end_request: 'end' }
/** The script has no defaults for these fields. */
const DEFAULTS = { knownPauses: [], allowanceMs: 0, timerAllowanceMs: 0, maxAllowanceMs: 0, ahead: 0 }

describe.skipIf(noRedis())('the script', () => {
  test.for(paceCallCases)('$name', async ({ calls }) => {
    const redis = await useRedis()
    const { pace, circuit } = redisTransport(
      commandsOf(await connectIoredis(redis.url)),
      `${redis.keyPrefix}${randomUUID()}:`,
    )
    for (const { function: name, request, reply } of calls) {
      if (name === 'circuit') {
        const now = expect.any(Number)
        expect(await circuit('k', request as unknown as CircuitChange, '0')).toEqual({ ...reply, now })
        continue
      }
      const op = (OPERATIONS[name] ?? name) as PaceRequest['op']
      expect(await pace('k', { ...DEFAULTS, ...request, op }, '0')).toEqual(reply)
    }
  })
})
