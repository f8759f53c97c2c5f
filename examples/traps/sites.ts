// The servers of the traps, their log, and the report. Each trap has its own port of 127.0.0.1. Two
// more ports are the start, which links to all traps, and another site to which some traps point.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, type Judgement, judge, links, type Request, type Trap, traps } from './traps.ts'

export interface SitesOptions {
  /** The port of the start. The other sites use the ports after it. Default 0: any free ports. */
  readonly port?: number
  /** What Crawl-delay and Retry-After ask for. */
  readonly delayMs: number
  /** The crawler's product token. Default: what its User-Agent headers begin with. */
  readonly token?: string | undefined
}

export interface Sites {
  /** Links to the first page of each trap. */
  readonly start: string
  /** The first page of each trap. */
  readonly urls: readonly string[]
  /** When a trap got its last request, by `Date.now`. */
  lastRequestAt(): number | undefined
  report(): Report
  close(): void
}

export type Report = readonly (Pick<Trap, 'name' | 'asks' | 'source'> & Judgement)[]

export async function startSites({ port = 0, delayMs, token }: SitesOptions): Promise<Sites> {
  const startedAt = Date.now()
  const logs = new Map<string, Request[]>(traps.map(({ name }) => [name, []]))
  const tokens = new Set<string>()
  const servers: Server[] = []
  let lastAt: number | undefined

  async function listen(answerTo: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer((request, response) => {
      for (const token of productTokens(request.headers['user-agent'])) tokens.add(token)
      answerTo(request, response)
    })
    servers.push(server)
    const at = port === 0 ? 0 : port + servers.length - 1
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Adds a request to the log of a trap. Returns the requests before it. */
  function note(request: IncomingMessage, response: ServerResponse, name: string): readonly Request[] {
    const log = logs.get(name) ?? []
    const { method = '', url: path = '', headers } = request
    lastAt = Date.now()
    const at = lastAt - startedAt
    const noted: Request = { at, method, path, userAgent: headers['user-agent'] ?? '', status: 0, end: Infinity }
    const before = log.slice()
    log.push(noted)
    response.once('close', () => {
      noted.status = response.statusCode
      noted.end = Date.now() - startedAt
      noted.isCut = !response.writableFinished
      const pause = String(response.getHeader('retry-after') ?? '')
      if (pause)
        noted.pausedUntil = /^\d+$/.test(pause) ? noted.end + Number(pause) * 1000 : Date.parse(pause) - startedAt
    })
    return before
  }

  const urls: string[] = []
  const start = await listen(({ url, headers }, response) => {
    if (url === '/robots.txt') send(response, 'User-agent: *\nDisallow: /report\n')
    else if (url !== '/report') send(response, url === '/' ? links(urls.map((site) => `${site}/`)) : { status: 404 })
    else if (headers.accept?.includes('json'))
      send(response, { headers: { 'content-type': 'application/json' }, body: reportJson(report()) })
    else send(response, { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: reportText(report()) })
  })
  const elsewhere = await listen((request, response) => {
    const name = request.url?.split('/')[1] ?? ''
    if (logs.has(name)) note(request, response, name)
    send(response, request.url === '/robots.txt' ? 'User-agent: *\nDisallow: /redirect-elsewhere/\n' : 'A page')
  })
  for (const trap of traps) {
    const origin = await listen((request, response) => {
      const log = note(request, response, trap.name)
      const path = request.url ?? ''
      const named = token ? [token] : tokens.size > 0 ? [...tokens] : ['*']
      const visit = { path, log, tokens: named, delayMs, origin, elsewhere }
      if (path === '/robots.txt') send(response, typeof trap.robots === 'function' ? trap.robots(visit) : trap.robots)
      else send(response, trap.pages?.(visit) ?? page(trap, path))
    })
    urls.push(origin)
  }

  function report(): Report {
    return traps.map((trap) => {
      const { name, asks, source } = trap
      return { name, asks, source, ...judge(trap, logs.get(name) ?? [], delayMs) }
    })
  }

  return {
    start: `${start}/`,
    urls: urls.map((site) => `${site}/`),
    lastRequestAt: () => lastAt,
    report,
    close: () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** Returns the number of traps with this result. */
export function count(report: Report, result: Judgement['result']): number {
  return report.filter((row) => row.result === result).length
}

export function reportText(report: Report): string {
  const rows = report.map(({ name, result, asks, source, why, request }) => {
    const head = `${result.padEnd(12)}${name.padEnd(20)}`
    if (why === undefined) return `${head}${asks}`
    const { at = 0, method, path = '', userAgent } = request ?? {}
    const line = request && `+${(at / 1000).toFixed(3)} s  ${method} ${path.slice(0, 60)}  ${userAgent}`
    return [`${head}${why}`, line, `${asks} (${source})`].filter(Boolean).join(`\n${' '.repeat(32)}`)
  })
  const of = (result: Judgement['result']) => count(report, result)
  return `${rows.join('\n')}

fell into ${of('fell')} of ${report.length - of('not reached')} traps, missed allowed pages of ${of('missed')}, passed ${of('passed')}; ${of('not reached')} not reached
`
}

export function reportJson(report: Report): string {
  return `${JSON.stringify({ version: 1, fell: count(report, 'fell'), missed: count(report, 'missed'), traps: report }, null, 2)}\n`
}

/** The first page of a trap links to all its pages. */
function page({ open = [], closed = [] }: Trap, path: string): Answer {
  return path === '/' ? links([...open, ...closed]) : `<p>This is ${path.replace(/[<&]/g, '')}.`
}

function send(response: ServerResponse, answer: Answer): void {
  const {
    status = 200,
    headers = {},
    body = '',
    afterMs = 0,
    isCut = false,
  } = typeof answer === 'string' ? { body: answer } : answer
  const isText = /^\/robots[-.]/.test(response.req.url ?? '')
  const type = isText ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8'
  const timer = setTimeout(() => {
    const all = { 'content-type': type, ...headers, ...(isCut && { 'content-length': '1000' }) }
    response.setHeaders(new Map(Object.entries(all))).statusCode = status
    if (isCut) response.write(body, () => response.destroy())
    else response.end(body)
  }, afterMs)
  response.once('close', () => clearTimeout(timer))
}

/**
 * Returns `ExampleBot` for `ExampleBot/1.0 (+https://…)` and for `Mozilla/5.0 (compatible; ExampleBot/1.0)`.
 * RFC 9309 has no digits in a token: some crawlers compare the whole name, and some the letters.
 */
function productTokens(userAgent = ''): readonly string[] {
  const [, name = ''] = /compatible; *([\w-]+)/.exec(userAgent) ?? /^([\w-]+)/.exec(userAgent) ?? []
  return [name, /^[A-Za-z_-]*/.exec(name)?.[0] ?? ''].filter(Boolean)
}
