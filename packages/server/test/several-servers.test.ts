// Reports that reach a server that has not granted the permit, or the same server after
// a restart. All of them have the same key.
import { createHmac } from 'node:crypto'
import { LocalPacer, type Pacer, type Reservation } from '@politely/gate'
import { describe, expect, test } from 'vitest'
import { applyReport, renew } from '../src/permits/reports.ts'
import { deskKit, permitOf, shown, ticketOf } from './kit.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const PLAIN = { minDelayMs: 0, maxConcurrentPerKey: 9 }

/** Two servers that were started at the same moment. */
async function twoServers(options: { pacer?: Pacer } & typeof PLAIN = PLAIN) {
  const first = await deskKit('', options)
  const second = await first.another()
  const someone = first.tenant('someone')
  const grant = async () => permitOf((await first.ask(['/a'], { tenant: someone }))[0])
  return { first, second, someone, grant }
}

describe('at a server that has not granted the permit, in memory', () => {
  test('a 429 counts once, with its Retry-After, and the lease stays with its own server', async () => {
    const { first, second, someone, grant } = await twoServers()
    const permit = await grant()
    expect(applyReport(second.desk, someone, { permit, status: 429, retry_after: 20, sent_after_ms: 3 }, HOUR)).toBe(
      'counted',
    )
    expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 20000 retry-after'])
    expect([second.gate.counters.pushbacks, first.desk.leases.open]).toEqual([1, 1])
    await second.advance(5_000)
    expect(applyReport(second.desk, someone, { permit, status: 429, retry_after: 900 }, HOUR)).toBe('repeated')
    expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 15000 retry-after'])
    expect(await renew(second.desk, someone, permit, MINUTE)).toBe('gone')
  })

  test('a pushback without a time pauses for the first backoff, a long Retry-After for the longest pause', async () => {
    const { second, someone, grant } = await twoServers()
    const [one, two] = [await grant(), await grant()]
    expect(applyReport(second.desk, someone, { permit: one, status: 503 }, HOUR)).toBe('counted')
    expect(shown((await second.ask(['/b']))[0])).toMatch(/^wait \d+ backoff$/)
    applyReport(second.desk, someone, { permit: two, status: 503, retry_after: '86400' }, HOUR)
    expect((await second.ask(['/b'])).map(shown)).toEqual([`wait ${HOUR} retry-after`])
  })

  test('failures open the circuit of the origin', async () => {
    const { second, someone, grant } = await twoServers()
    for (let n = 0; n < 5; n++) {
      const permit = await grant()
      expect(applyReport(second.desk, someone, { permit, outcome: 'failed' }, HOUR)).toBe('counted')
      expect(applyReport(second.desk, someone, { permit, outcome: 'failed' }, HOUR)).toBe('repeated')
    }
    expect(second.gate.counters.circuitsOpened).toBe(1)
  })

  test('the cooling period of an open circuit replaces the pause of a backoff', async () => {
    const { first, someone, grant } = await twoServers()
    const second = await first.another({ circuit: { failures: 1, coolMs: 1_000, outcomes: ['server-error'] } })
    expect(applyReport(second.desk, someone, { permit: await grant(), status: 503 }, HOUR)).toBe('counted')
    expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 1000 circuit'])
    await second.advance(1_000)
    expect((await second.ask(['/b'])).map(shown)).toEqual(['go'])
  })

  test('RateLimit headers and a page that asks for fewer requests count', async () => {
    const { first, someone, grant } = await twoServers()
    const second = await first.another({ rateLimitHeaders: true })
    const ratelimit = { 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }
    applyReport(second.desk, someone, { permit: await grant(), status: 200, ratelimit }, HOUR)
    expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 30000 rate-limit'])
    applyReport(second.desk, someone, { permit: await grant(), outcome: 'rate-limited', retry_after: 40 }, HOUR)
    expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 40000 retry-after'])
  })

  test('nothing counts without a response, or more than 10 minutes after the lease', async () => {
    const { second, someone, grant, first } = await twoServers()
    const permit = await grant()
    expect(applyReport(second.desk, someone, { permit, outcome: 'not-sent' }, HOUR)).toBe('gone')
    const late = await grant()
    await second.advance(11 * MINUTE - 1_000)
    expect(applyReport(second.desk, someone, { permit: late, status: 429, retry_after: 5 }, HOUR)).toBe('counted')
    expect(first.desk.leases.open).toBe(0)
    const tooLate = await grant()
    await second.advance(11 * MINUTE + 1_000)
    expect(applyReport(second.desk, someone, { permit: tooLate, status: 429, retry_after: 5 }, HOUR)).toBe('gone')
    expect((await second.ask(['/b'])).map(shown)).toEqual(['go'])
  })

  test('a ticket gives its URL a new place', async () => {
    const { first, second } = await twoServers({ ...PLAIN, minDelayMs: 2_000 })
    const [, wait] = await first.ask(['/a', '/b'])
    await second.ask(['/a'])
    expect((await second.ask([`/b ${ticketOf(wait)}`])).map(shown)).toEqual(['wait 2100 own-delay'])
    expect([first.desk.waiting, second.desk.waiting]).toEqual([1, 1])
  })
})

test('two servers that were started in one millisecond never end the leases of each other', async () => {
  const { first, second, someone, grant } = await twoServers()
  const permit = await grant()
  const [own] = await second.ask(['/a'], { tenant: someone })
  expect(permit).not.toBe(permitOf(own))
  expect(applyReport(second.desk, someone, { permit, status: 200 }, HOUR)).toBe('counted')
  expect([first.desk.leases.open, second.desk.leases.open]).toEqual([1, 1])
  expect(applyReport(first.desk, someone, { permit, status: 200 }, HOUR)).toBe('done')
})

test('a 429 for a permit of the version before counts', async () => {
  const { second } = await twoServers()
  const { site } = second
  const head = `p.1f.${(Date.now() + MINUTE).toString(36)}.${Buffer.from(site.origin).toString('base64url')}`
  const signature = createHmac('sha256', Buffer.alloc(32, 1)).update(`someone\0${head}`).digest().subarray(0, 16)
  const report = { permit: `${head}.${signature.toString('base64url')}`, status: 429, retry_after: 20 }
  expect(applyReport(second.desk, second.tenant('someone'), report, HOUR)).toBe('counted')
  expect((await second.ask(['/b'])).map(shown)).toEqual(['wait 20000 retry-after'])
})

test('after a restart, a report with a response counts, and the end of the request follows', async () => {
  const { first, second: restarted, someone, grant } = await twoServers()
  const permit = await grant()
  first.desk.close()
  const report = { permit, status: 503, retry_after: 20, end: false }
  expect(applyReport(restarted.desk, someone, report, HOUR)).toBe('counted')
  expect(applyReport(restarted.desk, someone, { permit, took_ms: 40 }, HOUR)).toBe('gone')
  expect((await restarted.ask(['/b'])).map(shown)).toEqual(['wait 20000 retry-after'])
})

describe('over a pacer that both servers share', () => {
  /** A pacer of another process, which counts the requests under way as far as the test needs it. */
  class SharedPacer {
    readonly calls: string[] = []
    readonly countsUnderWay = true
    readonly #local = new LocalPacer(() => Date.now())
    /** Whether as many requests as may be are under way at another server. */
    isFull = false
    /** The slots whose requests are no longer under way. */
    readonly #ended = new Set<unknown>()
    readonly reserve: Pacer['reserve'] = async (...args) => {
      const { max = 0, open = [] } = args[6] ?? {}
      const reply: Reservation =
        this.isFull || max === 0
          ? { kind: 'wait', ticket: undefined, waitMs: 250, because: 'concurrency' }
          : this.#local.reserve(...args)
      return { ...reply, ended: open.filter((ticket) => this.#ended.has(ticket)) }
    }
    readonly estimate: Pacer['estimate'] = async (...args) => this.#local.estimate(...args)
    readonly renew = async (_: string, ticket: unknown, leaseMs: number) => {
      this.calls.push(`renew ${ticket} ${leaseMs}`)
      return ticket === 1
    }
    readonly report: Pacer['report'] = (key, ticket, response, onceMs) => {
      this.calls.push(`report ${ticket} ${response.status} ${onceMs}`)
      this.#local.report(key, ticket, response)
    }
    readonly cancel: Pacer['cancel'] = (key, ticket) => {
      this.calls.push(`cancel ${ticket}`)
      this.#local.cancel(key, ticket)
    }
    release(_: string, ticket: unknown) {
      this.#ended.add(ticket)
      this.calls.push(`release ${ticket}`)
    }
    end() {}
  }

  const shared = () => {
    const pacer = new SharedPacer()
    const isFull = (full: boolean) => {
      pacer.isFull = full
    }
    return { ...PLAIN, pacer: pacer as Pacer, told: () => pacer.calls.splice(0), isFull }
  }

  test('a URL that waits for a request of another server starts after its end', async () => {
    const { told: _, isFull, ...options } = shared()
    const { first } = await twoServers(options)
    isFull(true)
    const [wait] = await first.ask(['/a'])
    expect(shown(wait)).toBe('wait 100 concurrency')
    isFull(false)
    await first.advance(250)
    expect((await first.ask([`/a ${ticketOf(wait)}`])).map(shown)).toEqual(['go'])
  })

  test('a report names the slot, so that the pacer counts it once, and ends its lease', async () => {
    const { told, isFull: _, ...options } = shared()
    const { first, second, someone, grant } = await twoServers(options)
    const [one, two] = [await grant(), await grant()]
    const report = { permit: one, status: 429, retry_after: 20, end: false }
    expect(applyReport(second.desk, someone, report, HOUR)).toBe('counted')
    expect(told()).toEqual([`report 1 429 ${20 * MINUTE}`])
    expect(applyReport(second.desk, someone, { permit: one }, HOUR)).toBe('gone')
    applyReport(second.desk, someone, { permit: one }, HOUR)
    expect(told()).toEqual(['release 1'])
    expect(applyReport(second.desk, someone, { permit: two, outcome: 'not-sent' }, HOUR)).toBe('gone')
    expect(told()).toEqual(['cancel 2'])
    expect(applyReport(first.desk, someone, { permit: one, status: 429 }, HOUR)).toBe('done')
    expect(told()).toEqual([`report 1 429 ${20 * MINUTE}`, 'release 1'])
    expect((await first.ask(['/b'])).map(shown)).toEqual(['wait 20000 retry-after'])
  })

  test('a server learns of a report elsewhere, even if nothing more is asked of the site', async () => {
    const { told: _, isFull: __, ...options } = shared()
    const { first, second, someone, grant } = await twoServers(options)
    const [one, two] = [await grant(), await grant()]
    expect(applyReport(second.desk, someone, { permit: one, status: 200 }, HOUR)).toBe('counted')
    await first.advance(10_000)
    expect(first.desk.leases.open).toBe(1)
    expect(applyReport(second.desk, someone, { permit: two, status: 200 }, HOUR)).toBe('counted')
    first.desk.drain()
    await first.advance(5_000)
    expect([first.desk.leases.open, ...first.expired]).toEqual([0])
  })

  test('a lease that is over is left to the clock of the pacer, and can be renewed at any server', async () => {
    const { told, isFull: _, ...options } = shared()
    const { first, second, someone, grant } = await twoServers(options)
    const [one, two] = [await grant(), await grant()]
    expect(await renew(second.desk, someone, one, 2 * MINUTE)).toBe('done')
    expect(await renew(second.desk, someone, two, 2 * MINUTE)).toBe('gone')
    await first.advance(MINUTE)
    expect([first.desk.leases.open, ...told()]).toEqual([0, 'renew 1 120000', 'renew 2 120000'])
    expect(await renew(first.desk, someone, one, 10 * MINUTE)).toBe('done')
    expect(applyReport(first.desk, someone, { permit: one, status: 200 }, HOUR)).toBe('counted')
    expect(told()).toEqual(['renew 1 540000', `report 1 200 ${20 * MINUTE}`, 'release 1'])
  })
})
