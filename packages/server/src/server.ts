// PolitelyServer: one polite gate for crawlers in any language, over HTTP.
//
//   a client ── POST /v1/permits ──> permits/desk.ts ──> the gate
//      │                                   │
//      └─ sends its request itself         └─ permits/lease.ts: until POST /v1/reports, or the lease is over
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import { connect, isIP } from 'node:net'
import bearerAuth from '@fastify/bearer-auth'
import swagger from '@fastify/swagger'
import { OptionError } from '@politely/core'
import { assertOptions, integer } from '@politely/fetcher/internal'
import { gatePort } from '@politely/gate/internal'
import fastify, { type FastifyInstance } from 'fastify'
import { BusyWatch } from './event-loop.ts'
import { Health } from './health.ts'
import { assertProgram } from './http/access.ts'
import { readJsonBodies } from './http/json-body.ts'
import { Fault, handleError, handleNotFound } from './http/problem.ts'
import { fetchRoute } from './http/routes-fetch.ts'
import { healthRoutes, operationRoutes } from './http/routes-operation.ts'
import { permitRoutes } from './http/routes-permits.ts'
import { robotsRoutes } from './http/routes-robots.ts'
import { serverMetrics } from './metrics.ts'
import {
  checkedOptions,
  type PolitelyServerOptions,
  type ServerAddress,
  type ServerSettings,
  type TcpOptions,
} from './options.ts'
import { PermitDesk } from './permits/desk.ts'
import { API_VERSION, API_VERSION_HEADER } from './schemas.ts'
import type { ServerContext } from './server-context.ts'
import { DEFAULT_QUOTAS, Tenant, Tenants } from './tenants.ts'

/** 500 URLs of the longest kind. */
const MAX_BODY_BYTES = 5_000_000
/** How long `drain` waits for permits. */
const DRAIN_MS = 25_000
const DRAIN_STEP_MS = 50
/** How long `close` waits for answers that are being written. */
const CLOSE_MS = 2_000
/** For callers that need no token. */
const LOCAL = 'local'

/**
 * Serves permits of one gate over HTTP: to crawlers in any language, and to several programs of one
 * machine.
 *
 * @example
 * ```ts
 * import { RobotsClient } from '@politely/fetcher'
 * import { PoliteGate } from '@politely/gate'
 * import { PolitelyServer } from '@politely/server'
 *
 * const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const gate = new PoliteGate({ robots, minDelayMs: 1_000 })
 * const server = new PolitelyServer({ gate })
 * const address = await server.listen({ port: 0 })
 * // Clients call POST /v1/permits at this address.
 * await server.close()
 * gate.close()
 * await robots.close()
 * ```
 */
export class PolitelyServer implements AsyncDisposable {
  readonly #options: ServerSettings
  readonly #context: ServerContext
  readonly #tenants: Tenants
  readonly #local: Tenant
  readonly #apps: FastifyInstance[] = []
  readonly #busy = new BusyWatch()
  /** How many calls have no answer yet, or only a part of it. */
  #calls = 0

  /**
   * @throws {OptionError} for an invalid or unknown option.
   * @throws {TokenFileError} for invalid `tokens`.
   */
  constructor(options: PolitelyServerOptions) {
    this.#options = checkedOptions(options)
    const { gate, tokens, secrets = [randomBytes(32)], maxPauseMs, maxLeaseMs, pacerName, logger } = this.#options
    const { now } = gatePort(gate)
    this.#tenants = new Tenants(now)
    this.#local = new Tenant(LOCAL, DEFAULT_QUOTAS, now)
    if (tokens !== undefined) this.#tenants.load(tokens)
    const metrics = serverMetrics(() => ({
      leases: desk.leases.open,
      waiting: desk.waiting,
      pacerOutageSeconds: health.pacerOutageSeconds,
      storeOutageSeconds: health.storeOutageSeconds,
    }))
    const desk = new PermitDesk({
      gate,
      secrets,
      maxLeaseMs,
      onResult: metrics.answered,
      onExpire: metrics.expired,
      onError: (error) => logger.warn?.(`a request could not be looked at: ${(error as Error).message}`),
      isShared: () => this.#tenants.size > 1,
      isBusy: () => this.#busy.isBusy,
    })
    const health = new Health({ gate, pacerName, logger, waiting: () => desk.waiting })
    this.#context = { gate, desk, maxPauseMs, metrics, health }
  }

  /**
   * Replaces the tokens by the tokens of a file: a line for each token, with the name of its tenant,
   * its hash, and quotas. `newToken` makes a line.
   * @throws {TokenFileError} for an invalid line. Then the old tokens stay.
   */
  loadTokens(text: string): void {
    this.#tenants.load(text)
  }

  /**
   * Starts to listen, at one more address. @returns The URL of the address, or the path of the socket.
   * @throws {OptionError} for an address other than loopback without tokens or TLS.
   * @throws The error of Node if the address cannot be used.
   */
  async listen(where: ServerAddress): Promise<string> {
    assertOptions(where, '{ port: 7420 }', { port: true, host: true, tls: true, behindTls: true, socket: true })
    if ('socket' in where) return this.#listenOnSocket(where.socket)
    const { port, host = '127.0.0.1', tls, behindTls = false } = where
    integer('port', port, { min: 0, max: 65_535 })
    if (!isLoopback(host)) this.#assertMayBePublic(host, tls, behindTls)
    const app = await this.#createApp({ host, tls })
    return app.listen({ port, host })
  }

  async #listenOnSocket(path: string): Promise<string> {
    const app = await this.#createApp()
    await removeStaleSocket(path)
    await app.ready()
    const listening = once(app.server, 'listening')
    const before = process.umask(0o177)
    try {
      app.server.listen(path) // creates the file before it returns
    } finally {
      process.umask(before)
    }
    await listening
    return path
  }

  /** From now on no permit is granted. Resolves when all permits have ended, or after 25 seconds. */
  async drain(): Promise<void> {
    const { desk } = this.#context
    desk.drain()
    await whileTrue(() => desk.leases.open > 0, DRAIN_MS)
  }

  /** Stops listening, and releases all permits. Tells the calls that it holds to wait. */
  async close(): Promise<void> {
    this.#context.desk.close()
    this.#context.health.close()
    const apps = this.#apps.splice(0)
    for (const { server } of apps) server.close()
    await whileTrue(() => this.#calls > 0, CLOSE_MS)
    this.#busy[Symbol.dispose]()
    await Promise.all(apps.map((app) => app.close()))
    await this.#context.metrics.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #assertMayBePublic(host: string, tls: TcpOptions['tls'], behindTls: boolean): void {
    if (this.#tenants.size === 0)
      throw new OptionError(
        'tokens',
        `is missing; the address ${host} is not of this machine only, so callers need tokens; write tokens: newToken('NAME').line`,
      )
    if (tls === undefined && !behindTls)
      throw new OptionError(
        'tls',
        `is missing; tokens would be sent to ${host} in the clear; write tls: { cert, key }, or behindTls: true if a proxy ends TLS`,
      )
  }

  /** @param tcp The TCP address; undefined for a UNIX socket. */
  async #createApp(tcp?: { readonly host: string; readonly tls: TcpOptions['tls'] }): Promise<FastifyInstance> {
    const { logger, hostNames, fetch, allowPrivate } = this.#options
    const { host = 'localhost', tls } = tcp ?? {}
    const names = new Set([...hostNames, host].map((name) => (isIP(name) === 6 ? `[${name}]` : name).toLowerCase()))
    const app = fastify({
      ...(tls && { https: { cert: Buffer.from(tls.cert), key: Buffer.from(tls.key) } }),
      bodyLimit: MAX_BODY_BYTES,
      requestTimeout: 30_000,
      connectionTimeout: 0, // calls may be held
      keepAliveTimeout: 72_000,
      forceCloseConnections: true,
      frameworkErrors: handleError(() => undefined),
      ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: true, verbose: true } },
    } as object) as FastifyInstance
    this.#apps.push(app)
    app.setSerializerCompiler(() => JSON.stringify)
    app.setErrorHandler(
      handleError((error) => {
        const hasLeft = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE' // the client closed its connection
        if (!hasLeft) logger.warn?.(`a call failed: ${error.stack}`)
      }),
    )
    app.setNotFoundHandler(handleNotFound(app))
    app.addHook('onRequest', (_, reply, done) => {
      reply.header(API_VERSION_HEADER, API_VERSION)
      done()
    })
    readJsonBodies(app, this.#context.desk)
    app.addContentTypeParser('application/x-ndjson', { parseAs: 'string' }, (_, body, done) => done(null, body))
    app.decorateRequest('tenant', null as never)
    app.decorateRequest('mayReachPrivate', tcp === undefined || allowPrivate)
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Politely',
          description: `Permits for polite crawlers. Each answer has this version in its header ${API_VERSION_HEADER}.`,
          version: API_VERSION,
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        servers: [{ url: '/' }],
        components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
        security: [{ token: [] }, {}],
      },
    })
    app.addHook('onRequest', async (_, reply) => {
      this.#calls++
      reply.raw.once('close', () => this.#calls--)
    })
    app.addHook('onSend', async (_, reply) => {
      if (this.#context.desk.isDraining) reply.header('connection', 'close')
    })
    await app.register(async (open) => healthRoutes(open, this.#context))
    await app.register(async (guarded) => {
      await this.#guard(guarded, tcp === undefined, names)
      operationRoutes(guarded, this.#context)
      permitRoutes(guarded, this.#context)
      await guarded.register(async (refusable) => {
        refusable.addHook('onRequest', async (_, reply) => {
          if (!this.#busy.isBusy) return
          reply.header('retry-after', '1')
          throw new Fault('overloaded', 'the event loop is blocked, or the heap is almost full; call again later')
        })
        robotsRoutes(refusable, this.#context)
        if (fetch) fetchRoute(refusable, this.#context)
      })
    })
    return app
  }

  /** Admits programs of this machine, or with a token. */
  async #guard(app: FastifyInstance, isSocket: boolean, names: ReadonlySet<string>): Promise<void> {
    app.addHook('onRequest', async (request) => assertProgram(request, names))
    await app.register(bearerAuth, {
      addHook: false,
      keys: [],
      auth: (token, request) => {
        const tenant = this.#tenants.byToken(token)
        if (tenant !== undefined) request.tenant = tenant
        return tenant !== undefined
      },
    })
    app.addHook('onRequest', (request, reply, done) => {
      if (isSocket || this.#tenants.size === 0) {
        request.tenant = this.#local
        return done()
      }
      app.verifyBearerAuth?.(request, reply, (error) => {
        if (error === undefined) return done()
        reply.header('www-authenticate', 'Bearer')
        done(new Fault('unauthorized', 'send a token of the token file: Authorization: Bearer TOKEN'))
      })
    })
  }
}

async function whileTrue(isTrue: () => boolean, maxMs: number): Promise<void> {
  const until = performance.now() + maxMs
  while (isTrue() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, DRAIN_STEP_MS))
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Removes the socket of a server that was killed. Leaves the socket of a server that runs. */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' && lstatSync(path).isSocket()) rmSync(path)
  } finally {
    probe.destroy()
  }
}
