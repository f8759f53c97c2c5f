// Kills workers and restarts the servers during a crawl.
import { setTimeout } from 'node:timers/promises'
import type { WorkerProcesses } from './fleet.ts'
import { idealMs, random, type WebShape } from './small-web.ts'

export interface Chaos {
  /** How many times a random worker is killed with SIGKILL. */
  readonly kills: number
  /** How many times the servers are ended and started again. */
  readonly restarts: number
  /**
   * Which restarts lose the data of the shared Redis. `half`: every second one. They do not touch
   * the Redis of the jobs, which must not lose its data. The other restarts kill both. Each restart
   * of Postgres loses the pace, and `wipe` says which are crashes.
   */
  readonly wipe: 'none' | 'half' | 'all'
}

export interface ChaosReport {
  readonly kills: number
  readonly restarts: number
  readonly wipes: number
}

/** Ends the servers of the crawl, and starts them again after a time. */
export type RestartServers = (options: { readonly keepData: boolean; readonly downMs: number }) => Promise<void>

const DOWN_MS = 500

/** Spreads the kills and restarts evenly over the time that the crawl needs at least. */
export function startChaos(
  { kills, restarts, wipe }: Chaos,
  { workers, restartServers, shape }: { workers: WorkerProcesses; restartServers: RestartServers; shape: WebShape },
): { stop(): Promise<void>; report(): ChaosReport } {
  const ending = new AbortController()
  const totalMs = idealMs(shape)
  const done = { kills: 0, restarts: 0, wipes: 0 }

  async function every(count: number, action: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; n < count; n++) {
      await setTimeout(totalMs / (count + 1), undefined, { signal: ending.signal })
      await action(n)
    }
  }
  async function kill(n: number): Promise<void> {
    await workers.kill(random(shape.seed, n) % workers.states().length)
    done.kills++
  }
  async function restart(n: number): Promise<void> {
    const keepData = wipe === 'none' || (wipe === 'half' && n % 2 === 0)
    await restartServers({ keepData, downMs: DOWN_MS })
    done.restarts++
    if (!keepData) done.wipes++
  }
  const all = Promise.allSettled([every(kills, kill), every(restarts, restart)])
  return {
    stop: async () => {
      ending.abort()
      await all
    },
    report: () => ({ ...done }),
  }
}
