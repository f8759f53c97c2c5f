// A gate on simulated time, in front of sites whose robots.txt was fetched from a real server before.
import { RobotsClient } from '@politely/fetcher'
import { onTestFinished, vi } from 'vitest'
import { type Permit, PoliteGate, type PoliteGateOptions } from '../src/index.ts'
import { lookup, Site } from './site.ts'

export interface Simulation {
  readonly gate: PoliteGate
  readonly site: Site
  readonly robots: RobotsClient
  /** When the simulation began. */
  readonly start: number
  /** Who left, and how many milliseconds after the beginning. */
  readonly left: [name: string, atMs: number][]
  /** Enters, and notes when it was let go. */
  readonly go: (name: string, host: string, signal?: AbortSignal) => Promise<Permit>
  /** Lets milliseconds pass; without a number, everything that is under way now. */
  readonly pass: (ms?: number) => Promise<void>
}

/** `hosts` says what each robots.txt holds for everyone; `at` is the moment at which the simulation begins. */
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
  const left: [name: string, atMs: number][] = []
  const go = async (name: string, host: string, signal?: AbortSignal) => {
    const pass = await gate.enter(site.at(host, `/${name}`), signal && { signal })
    left.push([name, Date.now() - at])
    return pass
  }
  const pass = async (ms = 0) => void (await vi.advanceTimersByTimeAsync(ms))
  return { gate, site, robots, start: at, left, go, pass }
}
