// The routes that say what robots.txt says: /v1/check, /v1/robots, /v1/explain, /v1/sitemaps, /v1/usage,
// /v1/forecast. They grant nothing.
import { Readable } from 'node:stream'
import type { ClientVerdict } from '@politely/fetcher'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PUBLIC_SOURCE } from '../permits/entrances.ts'
import { jsonRoute, MAX_URL_LENGTH, streamAnswer, UrlQuery } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import { CallTurns } from '../turns.ts'
import { assertShallow } from './json-body.ts'
import { shownAccess, shownVerdict, withServerFlags } from './messages.ts'
import { Fault } from './problem.ts'

/** How many URLs one call of /v1/check may have. */
const MAX_CHECKED = 10_000
const CONCURRENCY = 16
/** How many calls of /v1/check one tenant may have under way. */
const MAX_CHECKS = 4
const MAX_CHECK_BYTES = 1_000_000
const READ_TIMEOUT_MS = 30_000

export function robotsRoutes(app: FastifyInstance, { gate, desk }: ServerContext): void {
  const { robots } = gate

  app.post(
    '/v1/check',
    {
      bodyLimit: MAX_CHECK_BYTES,
      schema: {
        operationId: 'checkUrls',
        summary: 'Check URLs against robots.txt, without a permit',
        description: `Takes up to ${MAX_CHECKED} lines of NDJSON, each {"url": …, "id": …}, and answers with one line for each, in their order.`,
        body: { content: { 'application/x-ndjson': { schema: Type.String() } } },
        response: streamAnswer('application/x-ndjson', 'A line for each URL: {"id": …, "verdict": …}'),
      },
    },
    async (request, reply) => {
      const { tenant, body } = request
      if (typeof body !== 'string')
        throw new Fault('invalid-request', 'the body is not NDJSON; send content-type: application/x-ndjson')
      if (tenant.checking >= MAX_CHECKS) {
        reply.header('retry-after', '1')
        throw new Fault('overloaded', `${MAX_CHECKS} calls of /v1/check are under way for you; wait for one of them`)
      }
      tenant.checking++
      reply.raw.once('close', () => tenant.checking--)
      await desk.turns.next(tenant.name, '/v1/check', false)
      const lines = linesOf(body)
      // A client that does not read would keep the lines in memory.
      reply.raw.setTimeout(READ_TIMEOUT_MS, () => reply.raw.destroy())
      return reply.header('content-type', 'application/x-ndjson').send(Readable.from(verdictLines(request, lines)))
    },
  )

  async function* verdictLines(request: FastifyRequest, lines: readonly CheckLine[]) {
    const urls = lines.map(({ url }) => url)
    const turns = new CallTurns(desk.turns, request.tenant.name, '/v1/check')
    let n = 0
    for await (const verdict of robots.checkMany(urls, { ...sourceOf(request), concurrency: CONCURRENCY })) {
      await turns.next()
      const { id } = lines[n++] as CheckLine
      yield `${JSON.stringify({ id, verdict: shownVerdict(verdict) })}\n`
    }
  }

  const get = (path: string, summary: string, answer: (url: string, request: FastifyRequest) => Promise<object>) =>
    app.get<{ Querystring: UrlQuery }>(
      path,
      jsonRoute(
        path.replace(/^\/v1\/(.)/, (_, first) => `get${first.toUpperCase()}`),
        summary,
        { querystring: UrlQuery },
      ),
      async (request) => {
        const { url } = request.query
        const parsed = URL.parse(url)
        if (parsed === null || !/^(?:https?|ftp):$/.test(parsed.protocol))
          throw new Fault('invalid-request', 'url is not an absolute http: or https: URL')
        return answer(url, request)
      },
    )

  get('/v1/robots', 'The robots.txt of an origin, and its state', async (url, request) => {
    const options = sourceOf(request)
    const verdict = await robots.check(url, options)
    const file = await robots.robots(url, options)
    return { origin: verdict.origin, access: verdict.access && shownAccess(verdict.access), text: file?.text }
  })
  get('/v1/explain', 'Why a URL is allowed or not', async (url, request) => {
    const { verdict, explanation, records } = await robots.explain(url, sourceOf(request))
    return { verdict: shownVerdict(verdict), explanation, records }
  })
  get('/v1/sitemaps', 'The sitemaps that robots.txt names', async (url, request) => {
    const sitemaps = await robots.sitemaps(url, sourceOf(request))
    return { sitemaps: [...sitemaps], access: sitemaps.access && shownAccess(sitemaps.access) }
  })
  get('/v1/usage', 'What the site says about the use of its pages', async (url, request) => {
    const usage = await robots.usage(url, undefined, sourceOf(request))
    const { verdict, tdmrep } = usage
    const why = tdmrep.why && verdict.access ? withServerFlags(tdmrep.why, verdict.access) : tdmrep.why
    return { ...usage, verdict: shownVerdict(verdict), tdmrep: { ...tdmrep, why } }
  })
  get('/v1/forecast', 'When a request could start', async (url, request) => {
    const forecast = await gate.when(url, sourceOf(request))
    return { ...forecast, verdict: shownVerdict(forecast.verdict as ClientVerdict) }
  })
}

/** The source of the URLs of a caller who may not reach private hosts. */
function sourceOf({ mayReachPrivate }: FastifyRequest): { redirectedFrom?: readonly string[] } {
  return mayReachPrivate ? {} : { redirectedFrom: PUBLIC_SOURCE }
}

interface CheckLine {
  readonly url: string
  readonly id?: string | undefined
}

function linesOf(body: string): readonly CheckLine[] {
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > MAX_CHECKED)
    throw new Fault('too-large', `the body has ${lines.length} lines; send at most ${MAX_CHECKED}`)
  return lines.map((line, n) => {
    let value: unknown
    assertShallow(line, `line ${n + 1}`)
    try {
      value = JSON.parse(line)
    } catch {
      throw new Fault('invalid-request', `line ${n + 1} is not JSON; expected {"url": "https://example.com/page"}`)
    }
    const { url, id } = (value ?? {}) as { url?: unknown; id?: unknown }
    const isValid =
      typeof url === 'string' && url.length <= MAX_URL_LENGTH && (id === undefined || typeof id === 'string')
    if (!isValid)
      throw new Fault('invalid-request', `line ${n + 1} is not {"url": "https://example.com/page", "id": "…"}`)
    return { url, id }
  })
}
