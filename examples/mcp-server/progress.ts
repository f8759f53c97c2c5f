// What a call waits for, told to a client that asks for it: at once, and then every second.
import type { ServerContext } from '@modelcontextprotocol/server'
import { type Stage, seconds } from './page-reader.ts'

const EVERY_MS = 1_000

/** Does the work, and tells the client of its stages while it goes on. */
export async function withProgress<T>(
  { mcpReq }: ServerContext,
  work: (onStage: (stage: Stage) => void) => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return await work(() => undefined)
  const start = performance.now()
  let stage: Stage = { waitsFor: 'robots.txt' }
  let total: number | undefined
  const tell = () => {
    const progress = (performance.now() - start) / 1000
    const params = { progressToken, progress, message: messageOf(stage), ...(total !== undefined && { total }) }
    // Who has gone does not hear it; that ends the work by its signal.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const timer = setInterval(tell, EVERY_MS)
  try {
    return await work((next) => {
      stage = next
      // Seconds, as progress is; nobody knows how long an answer takes.
      total = stage.waitsFor === 'turn' ? (performance.now() - start + stage.forecast.waitMs) / 1000 : undefined
      tell()
    })
  } finally {
    clearInterval(timer)
  }
}

function messageOf(stage: Stage): string {
  if (stage.waitsFor !== 'turn') return `waiting for ${stage.waitsFor === 'answer' ? 'the page' : 'robots.txt'}`
  const { waitMs, because, ahead, verdict } = stage.forecast
  const where = 'origin' in verdict ? verdict.origin : verdict.url
  if (waitMs === 0) return `waiting for its turn at ${where}`
  return `waiting for its turn at ${where}: about ${seconds(waitMs)} (${because}, ${ahead} before it)`
}
