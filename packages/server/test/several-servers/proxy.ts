// A balancer: it gives calls to the servers in turn. It goes on to the next server if a server
// refuses the connection, or ends it before the answer.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** The answers of a server that are 503, for reports. */
  readonly refusedReports: { readonly server: string; readonly body: string }[]
}

/** A server behind the balancer. */
export interface Upstream {
  readonly name: string
  readonly port: number
  /** Whether it answers `/readyz` with 200. The balancer prefers such servers. */
  isReady: boolean
}

/** How often each server is asked whether it is ready. */
const CHECK_MS = 500

/** @param checksReady Whether a server that is not ready gets no calls. */
export async function startProxy(upstreams: readonly Upstream[], checksReady: () => boolean): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true })
  const refusedReports: Proxy['refusedReports'] = []
  let turn = 0

  /** Sends the call to a server. Rejects if no answer begins. */
  function forward(upstream: Upstream, call: IncomingMessage, body: Buffer, signal: AbortSignal) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const { method, url: path, headers } = call
      const { port } = upstream
      const options = { host: '127.0.0.1', port, method, path, agent, signal }
      const sent = request({ ...options, headers: { ...headers, host: `127.0.0.1:${port}` } }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  }

  async function serve(call: IncomingMessage, reply: ServerResponse): Promise<void> {
    const chunks: Buffer[] = await call.toArray()
    const body = Buffer.concat(chunks)
    const gone = new AbortController()
    reply.on('close', () => reply.writableFinished || gone.abort())
    turn++
    const inTurn = upstreams.map((_, n) => upstreams[(turn + n) % upstreams.length] as Upstream)
    const order = checksReady() ? inTurn.toSorted((a, b) => Number(b.isReady) - Number(a.isReady)) : inTurn
    const errors: string[] = []
    for (const upstream of order) {
      try {
        const answer = await forward(upstream, call, body, gone.signal)
        const parts: Buffer[] = await answer.toArray()
        const text = Buffer.concat(parts)
        const { statusCode = 502, headers } = answer
        if (statusCode === 503 && call.url === '/v1/reports')
          refusedReports.push({ server: upstream.name, body: `${text}` })
        const { 'content-type': type = 'application/json' } = headers
        reply.writeHead(statusCode, { 'content-type': type, 'x-server': upstream.name })
        reply.end(text)
        return
      } catch (error) {
        if (gone.signal.aborted) return
        errors.push(`${upstream.name}: ${(error as Error).message}`)
      }
    }
    reply.writeHead(502).end(errors.join('; '))
  }

  const checking = setInterval(() => {
    for (const upstream of upstreams) {
      const check = request({ host: '127.0.0.1', port: upstream.port, path: '/readyz', timeout: 2_000 }, (answer) => {
        upstream.isReady = answer.statusCode === 200
        answer.resume()
      })
      check.on('timeout', () => check.destroy(new Error('no answer')))
      check.on('error', () => (upstream.isReady = false))
      check.end()
    }
  }, CHECK_MS)
  const server = createServer((call, reply) => void serve(call, reply))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusedReports,
    [Symbol.asyncDispose]: async () => {
      clearInterval(checking)
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
