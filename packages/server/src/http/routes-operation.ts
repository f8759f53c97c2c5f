// The routes for operators: /livez, /readyz, /metrics, /openapi.json.
import type { FastifyInstance } from 'fastify'
import { faults, Json } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { Fault } from './problem.ts'

/** Open to everyone: they say nothing but yes. */
export function healthRoutes(app: FastifyInstance, { isDraining }: ServerContext): void {
  app.get(
    '/livez',
    { schema: { operationId: 'isAlive', summary: 'Whether the server runs', response: { 200: Json, ...faults } } },
    async () => ({
      status: 'ok',
    }),
  )
  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'isReady',
        summary: 'Whether the server grants permits',
        response: { 200: Json, ...faults },
      },
    },
    async () => {
      if (isDraining()) throw new Fault('overloaded', 'the server is stopping')
      return { status: 'ok' }
    },
  )
}

export function operationRoutes(app: FastifyInstance, { metricsText }: ServerContext): void {
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) =>
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await metricsText()),
  )
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
