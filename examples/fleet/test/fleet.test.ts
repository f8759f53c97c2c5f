// @module-tag slow
// @module-tag full
// The example, run with real processes, a real Redis or Postgres, and real requests on loopback.

import { noPostgresServer } from '@politely/testkit/servers/postgres'
import { noRedisServer } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import { type FleetOptions, runFleet } from '../fleet.ts'
import { movedPagesOf, type WebShape } from '../small-web.ts'
import { summaryOf } from '../table.ts'

// The delay of a domain makes the jobs of two origins, and so two workers, share a pace.
const web: WebShape = { origins: 10, pages: 60, crawlDelayMs: 300, minDelayMs: 250, domainDelayMs: 150, seed: 1 }
/** The machine may be busy. Without a pace, the smallest gap in a domain is about 1 ms. */
const TOLERANCE_MS = 100

interface Case {
  readonly name: string
  readonly options: FleetOptions
}

const cases: readonly Case[] = [
  { name: 'with one pace in Redis', options: { workers: 2, web, backend: 'redis', partition: false } },
  {
    name: 'with one pace in Postgres, and no Redis',
    options: { workers: 2, web, backend: 'postgres', partition: false },
  },
  { name: 'partitioned by domain', options: { workers: 2, web, backend: 'redis', partition: true } },
  {
    name: 'whose workers are killed and whose Redis loses its data',
    options: {
      workers: 2,
      web: { ...web, pages: 200 },
      backend: 'redis',
      partition: false,
      chaos: { kills: 3, restarts: 2, wipe: 'half' },
    },
  },
  {
    name: 'whose workers and Postgres are killed',
    options: {
      workers: 2,
      web: { ...web, pages: 200 },
      backend: 'postgres',
      partition: false,
      chaos: { kills: 3, restarts: 2, wipe: 'half' },
    },
  },
]

describe.skipIf(noRedisServer() || noPostgresServer())('a fleet', () => {
  test.for(cases)('$name crawls every page politely', async ({ options }) => {
    const report = await runFleet(options)
    expect(summaryOf(report, options, TOLERANCE_MS).problems).toEqual([])
    const { origins, repeated } = report.web
    for (const { minPermitGapMs = 0, minDomainGapMs = 0, delayMs, missing, disallowed } of origins) {
      expect(missing).toBe(0)
      expect(disallowed).toBe(0)
      // By the clock of the workers. The reply that grants a slot may arrive later than the next
      // one is sent.
      expect(minPermitGapMs).toBeGreaterThan(delayMs - TOLERANCE_MS)
      expect(minDomainGapMs).toBeGreaterThan(options.web.domainDelayMs - TOLERANCE_MS)
    }
    if (options.chaos) {
      expect(report.chaos).toMatchObject({ kills: 3, restarts: 2, wipes: 1 })
      return
    }
    expect(repeated).toEqual([])
    expect(origins.map(({ robotsFetches }) => robotsFetches)).toEqual(origins.map(() => 1))
    const moved = origins.reduce((sum, _, origin) => sum + movedPagesOf(origin, web), 0)
    expect(report.done).toBe(web.pages + web.origins + moved) // each origin has a page that robots.txt disallows
  })
})
