// A gate on simulated time. Its robots.txt files were fetched from a real server before the
// simulated time began.
import { RobotsClient } from '@politely/fetcher'
import { onTestFinished, vi } from 'vitest'
import { type Permit, PoliteGate, type PoliteGateOptions } from '../src/index.ts'
import { lookup, Site } from './site.ts'

export interface Simulation {
  readonly gate: PoliteGate
  readonly site: Site
  readonly robots: RobotsClient
  /** The time at which the simulation began. */
  readonly start: number
  /** The requests that have started, in order, with the milliseconds since `start`. */
  readonly starts: [name: string, atMs: number][]
  /** Enters the gate with a request for `/name`. Adds it to `starts` when it starts. */
  readonly enter: (name: string, host: string, signal?: AbortSignal) => Promise<Permit>
  /** Advances the simulated time. Without a number, only runs what can run now. */
  readonly advance: (ms?: number) => Promise<void>
}

/**
 * @param hosts The lines of each host's robots.txt after `User-agent: *`.
 * @param at The time at which the simulation begins.
 */
export async function simulate(
  hosts: Readonly<Record<string, string>>,
  { at = Date.UTC(2026, 0, 1), ...options }: Omit<PoliteGateOptions, 'robots'> & { readonly at?: number } = {},
): Promise<Simulation> {
  const site = await Site.open(
    Object.fromEntries(Object.entries(hosts).map(([host, lines]) => [host, `User-agent: *\n${lines}\n`])),
  )
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  onTestFinished(async () => {
    vi.useRealTimers()
    await robots.close()
    await site.close()
  })
  for (const host of Object.keys(hosts)) await robots.check(site.at(host))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: at })
  const gate = new PoliteGate({ robots, now: () => Date.now(), ...options })
  const starts: [name: string, atMs: number][] = []
  const enter = async (name: string, host: string, signal?: AbortSignal) => {
    const permit = await gate.enter(site.at(host, `/${name}`), signal && { signal })
    starts.push([name, Date.now() - at])
    return permit
  }
  const advance = async (ms = 0) => void (await vi.advanceTimersByTimeAsync(ms))
  return { gate, site, robots, start: at, starts, enter, advance }
}
