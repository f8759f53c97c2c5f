// The routes for operators: /livez, /readyz, /metrics, /openapi.json.
import type { FastifyInstance } from 'fastify'
import { jsonRoute } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { Fault } from './problem.ts'

/** Open to everyone: they say little more than yes. */
export function healthRoutes(app: FastifyInstance, { desk, health }: ServerContext): void {
  app.get('/livez', jsonRoute('isAlive', 'Whether the server runs'), async () => ({ status: 'ok' }))
  app.get('/readyz', jsonRoute('isReady', 'Whether the server grants permits'), async () => {
    if (desk.isDraining) throw new Fault('overloaded', 'the server is stopping')
    if (health.isStarting) throw new Fault('overloaded', 'the server waits for the first answer of its pacer')
    const { degraded, since } = health.degraded ?? {}
    // Still ready: all servers share the backend, and a balancer would take all of them out.
    return { status: 'ok', ...(since !== undefined && { degraded, since: new Date(since).toISOString() }) }
  })
}

export function operationRoutes(app: FastifyInstance, { metrics }: ServerContext): void {
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) =>
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  )
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
