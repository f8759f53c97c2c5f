// Visits to three hosts of one domain and one of another, on simulated time.
import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { expect, vi } from 'vitest'
import type { Permit, PoliteGateOptions } from '../src/index.ts'
import type { WaitLevel } from '../src/pace/wait-cause.ts'
import { simulate } from './simulation.ts'

/** Three hosts of one domain, and one host of another. */
export const HOSTS = { 'a.one.test': '', 'b.one.test': '', 'c.one.test': '', 'two.test': '' }

/** The addresses that the gate sees: the first two hosts share one. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'a.one.test': '192.0.2.1',
  'b.one.test': '192.0.2.1',
  'c.one.test': '192.0.2.2',
  'two.test': '192.0.2.2',
}

export const lookup: LookupFunction = (host, _options, callback) => {
  const found: LookupAddress[] = [{ address: ADDRESSES[host] ?? '192.0.2.9', family: 4 }]
  callback(null, found)
}

/**
 * Visits the hosts in this order, and lets each request take `takesMs`. Returns when the requests
 * started, why they waited, and at which level.
 */
export async function visits(
  hosts: readonly string[],
  options: Omit<PoliteGateOptions, 'robots'>,
  { takesMs = 0, forMs = 60_000 }: { readonly takesMs?: number; readonly forMs?: number } = {},
): Promise<
  readonly (readonly [host: string, atMs: number, because: Permit['waitedFor'], level: WaitLevel | undefined])[]
> {
  const { enter, advance, gate, start } = await simulate(HOSTS, { lookup, ...options })
  const seen: [string, number, Permit['waitedFor'], WaitLevel | undefined][] = []
  const all = hosts.map(async (host, n) => {
    const permit = await enter(`${n}`, host)
    seen.push([host, Date.now() - start, permit.waitedFor, permit.waitedLevel])
    setTimeout(() => permit.release({ status: 200, headers: {} }), takesMs)
  })
  await advance(forMs)
  await Promise.all(all)
  expect(gate.queues()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  return seen
}
