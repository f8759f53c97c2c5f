// @module-tag slow
// @module-tag full
// Two servers with one key over one pacer, behind a balancer that gives them calls in turn. Whatever
// happens to servers and backend, the site sees no request too early. See fleet.ts.
import { noPostgresServer } from '@politely/testkit/servers/postgres'
import { noRedisServer } from '@politely/testkit/servers/redis'
import { expect, test } from 'vitest'
import { type BackendName, type Phase, runServers } from './fleet.ts'
import { judge } from './verdict.ts'

const ORIGINS = 20
const LEASE_MS = 60_000

const PHASES: readonly Phase[] = [
  { name: 'calm', seconds: 8, everySeconds: 8 },
  { name: 'restart', seconds: 6, everySeconds: 3 },
  { name: 'kill', seconds: 6, everySeconds: 3 },
  { name: 'stall', seconds: 4, everySeconds: 2 },
  { name: 'backend-lost', seconds: 12, everySeconds: 12 },
]

async function checkSite(backend: BackendName): Promise<void> {
  const verdict = judge(await runServers({ backend, origins: ORIGINS, leaseMs: LEASE_MS, phases: PHASES }))
  console.log(JSON.stringify(verdict, undefined, 2))
  const { pages, pushbacks, states, shortGaps, withinRetryAfter, refusedReports, lost } = verdict
  expect({ shortGaps, withinRetryAfter, refusedReports, lost }).toEqual({
    shortGaps: [],
    withinRetryAfter: [],
    refusedReports: 0,
    lost: 0,
  })
  expect(Object.keys(states).filter((state) => /^pushback (?:gone|unknown)/.test(state))).toEqual([])
  expect(pages).toBeGreaterThan(ORIGINS)
  expect(pushbacks).toBeGreaterThan(0)
}

test.skipIf(noRedisServer())('over Redis, no request is too early, and every pushback counts', () => checkSite('redis'))
test.skipIf(noPostgresServer())('over Postgres, no request is too early, and every pushback counts', () =>
  checkSite('postgres'),
)
