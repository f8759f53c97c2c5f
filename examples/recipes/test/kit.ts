// What the tests of the recipes share.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, type PoliteGateOptions } from '@politely/gate'
import { type AdapterSettings, startSites, type Sites, type Visit } from '@politely/testkit'
import { onTestFinished } from 'vitest'
import { refusalIn } from '../small-web.ts'

/** What a visit came to, for who looks for a refusal in the error that a library gives. */
export async function seen(answer: Promise<number>): Promise<Visit> {
  try {
    return { kind: 'answered', status: await answer }
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal) return { kind: 'refused', verdict: refusal.verdict }
    throw error
  }
}

export interface OwnGate {
  readonly gate: PoliteGate
  close(): Promise<void>
}

export function openGate({ userAgent, retries, minDelayMs }: AdapterSettings): OwnGate {
  const robots = new RobotsClient({ userAgent, retries })
  const gate = new PoliteGate({ robots, minDelayMs })
  const close = async () => {
    gate.close()
    await robots.close()
  }
  return { gate, close }
}

/** A web, and a gate with a single place for each origin: whoever does not give it back stops everybody. */
export async function openNarrowGate(
  options: Omit<PoliteGateOptions, 'robots'> = {},
): Promise<{ sites: Sites; gate: PoliteGate; robots: RobotsClient }> {
  const sites = await startSites()
  sites.answer(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  const robots = new RobotsClient({ userAgent: 'RecipeBot/1.0', retries: 0 })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerOrigin: 1, ...options })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
    await sites.close()
  })
  return { sites, gate, robots }
}

export const HOME = 'http://localhost:PORT'
