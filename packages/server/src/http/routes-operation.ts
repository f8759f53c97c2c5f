// The routes for operators: /livez, /readyz, /metrics, /openapi.json.
import type { FastifyInstance } from 'fastify'
import { jsonRoute } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { Fault } from './problem.ts'

/** Open to everyone: they say nothing but yes. */
export function healthRoutes(app: FastifyInstance, { desk }: ServerContext): void {
  app.get('/livez', jsonRoute('isAlive', 'Whether the server runs'), async () => ({ status: 'ok' }))
  app.get('/readyz', jsonRoute('isReady', 'Whether the server grants permits'), async () => {
    if (desk.isDraining) throw new Fault('overloaded', 'the server is stopping')
    return { status: 'ok' }
  })
}

export function operationRoutes(app: FastifyInstance, { metrics }: ServerContext): void {
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) =>
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  )
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
