// POST /v1/fetch: the server requests a page itself, for programs without an HTTP client.
// It exists by option only. The request gets a permit like any other, and has a lease.
//
// The answer is one line of JSON, and after it the bytes of the page as they arrive:
//
//   {"state":"page","status":200,"url":"https://example.com/","headers":[["content-type","text/html"]]}
//   <!doctype html>…
import { Readable } from 'node:stream'
import { RobotsDisallowedError } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import type { FastifyInstance } from 'fastify'
import { type Response, fetch as undiciFetch } from 'undici'
import type { PermitResult } from '../permits/permit-call.ts'
import { FetchBody, streamAnswer } from '../schemas.ts'
import type { ServerContext } from '../server-context.ts'
import type { Tenant } from '../tenants.ts'
import { Fault } from './problem.ts'
import { closeSignal, permitAnswer } from './routes-permits.ts'

/** The lease covers the longest time that a page may take, and its redirects. */
const LEASE_MS = 600_000

export function fetchRoute(app: FastifyInstance, { gate, desk }: ServerContext): void {
  // The agent's connections are guarded: a public name leads to a public address, also after a redirect.
  const agent = politeAgent({ gate })
  app.addHook('onClose', () => agent.destroy())

  app.post<{ Body: FetchBody }>(
    '/v1/fetch',
    {
      schema: {
        operationId: 'fetchPage',
        summary: 'Request a page through the server',
        description:
          'The answer begins with a line of JSON. After a line with the state "page", the bytes of the page follow.',
        body: FetchBody,
        response: streamAnswer('application/octet-stream', 'A line of JSON, and the bytes of the page'),
      },
    },
    async (request, reply) => {
      const { tenant, mayReachPrivate, body } = request
      const { url, method, headers = {}, timeout_ms, max_wait_ms, max_bytes } = body
      reply.header('content-type', 'application/octet-stream')
      const line = (value: object) => reply.send(`${JSON.stringify(value)}\n`)
      assertSendable(headers)
      const waitMs = tenant.fetchWaitMs
      if (waitMs > 0) return line(permitAnswer({ state: 'full', waitMs, because: 'bytes' }))
      const closed = closeSignal(reply)
      const { results } = await desk.grant({
        tenant,
        mayReachPrivate,
        startWithinMs: 1,
        holdMs: max_wait_ms,
        leaseMs: LEASE_MS,
        requests: [{ url }],
        signal: closed,
      })
      const [result] = results
      if (result?.state !== 'go') return line(permitAnswer(result as PermitResult))
      const { lease } = result
      const end = () => desk.leases.end(lease)
      reply.raw.once('close', end)
      const timeout = AbortSignal.timeout(timeout_ms)
      const signal = AbortSignal.any([closed, timeout])
      const init = { method, headers: { ...headers, 'user-agent': gate.robots.userAgent }, signal, dispatcher: agent }
      try {
        const response = await lease.permit.run(() => undiciFetch(url, init))
        return reply.send(Readable.from(page(response, max_bytes, tenant, end)))
      } catch (error) {
        return refusedOrThrow(error, timeout, line)
      }
    },
  )
}

/** Headers of the server, and of its connection to the site (RFC 9110 §7.6.1). */
const OF_THE_SERVER =
  /^(?:user-agent|host|connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length|expect)$/i
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** @throws {Fault} for a header that the client cannot choose, or that HTTP cannot carry. */
function assertSendable(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const shown = `headers: ${JSON.stringify(name)}`
    if (OF_THE_SERVER.test(name)) throw new Fault('invalid-request', `${shown} is set by the server; leave it out`)
    if (!HEADER_NAME.test(name))
      throw new Fault('invalid-request', `${shown} is not the name of a header; write letters, digits and hyphens`)
    if (!HEADER_VALUE.test(value))
      throw new Fault('invalid-request', `${shown} has a line break or another character that a header cannot carry`)
  }
}

/** Yields the head and the bytes. Ends with an error after `max` bytes, so that no page looks whole. */
async function* page(
  { status, url, headers, body }: Response,
  max: number,
  tenant: Tenant,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield Buffer.from(`${JSON.stringify({ state: 'page', status, url, headers: [...headers] })}\n`)
    let bytes = 0
    for await (const chunk of body ?? []) {
      bytes += chunk.length
      tenant.fetched(chunk.length)
      if (bytes > max) throw new Error(`the page has more than max_bytes (${max})`)
      yield chunk
    }
  } finally {
    end()
  }
}

/** A refused redirect is an answer; a page that did not come is a fault. */
function refusedOrThrow<T>(error: unknown, timeout: AbortSignal, line: (value: object) => T): T {
  const { cause = error } = Object(error) as { readonly cause?: unknown }
  if (cause instanceof RobotsDisallowedError) {
    const { verdict } = cause
    return line(permitAnswer({ state: 'refused', because: verdict.because, verdict, retryAt: undefined }))
  }
  throw new Fault(timeout.aborted ? 'timed-out' : 'not-fetched', (cause as Error).message)
}
