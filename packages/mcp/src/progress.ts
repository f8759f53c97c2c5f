// Sends progress notifications to a client that asks for them: at once, then every second.
import type { ServerContext } from '@modelcontextprotocol/server'
import { type Stage, seconds } from './page-reader.ts'

const INTERVAL_MS = 1_000

/** Runs `work` and notifies the client of each stage that it reports. */
export async function withProgress<T>(
  { mcpReq }: ServerContext,
  work: (onStage: (stage: Stage) => void) => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return await work(() => undefined)
  const start = performance.now()
  let stage: Stage = { waitsFor: 'robots.txt' }
  let total: number | undefined
  const notify = () => {
    const progress = (performance.now() - start) / 1000
    const params = { progressToken, progress, message: messageOf(stage), ...(total !== undefined && { total }) }
    // A failed notification means that the client has disconnected. The request's signal then ends
    // the work.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const timer = setInterval(notify, INTERVAL_MS)
  try {
    return await work((next) => {
      stage = next
      // In seconds, like `progress`. Only the wait for a slot has a known length.
      total = stage.waitsFor === 'slot' ? (performance.now() - start + stage.forecast.waitMs) / 1000 : undefined
      notify()
    })
  } finally {
    clearInterval(timer)
  }
}

function messageOf(stage: Stage): string {
  if (stage.waitsFor !== 'slot') return `waiting for ${stage.waitsFor === 'response' ? 'the page' : 'robots.txt'}`
  const { waitMs, because, ahead, verdict } = stage.forecast
  const where = verdict.origin ?? verdict.url
  if (waitMs === 0) return `waiting to start the request to ${where}`
  return `waiting to start the request to ${where}: about ${seconds(waitMs)} (${because}, requests ahead: ${ahead})`
}
