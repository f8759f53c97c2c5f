// Measures one server on this machine: `npm run example -- examples/deploy/load.ts`. Flags of the server may follow,
// such as `--pacer redis`. The sites have addresses of 127.0.0.0/8, which Linux has without further settings.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts')
/** With fewer sites, permits would wait for the site's previous permit. */
const SITES = 10_000
const SECONDS = Number(process.env.SECONDS ?? 10)
const WAITING = 100_000
const BATCH = 500

const agent = new Agent({ keepAlive: true })
const site = createServer((_, response) => response.end('User-agent: *\nAllow: /\n')).listen(0, '0.0.0.0')
await once(site, 'listening')
const { port } = site.address() as AddressInfo
const origins = Array.from({ length: SITES }, (_, n) => `http://127.1.${n >> 8}.${n & 255}:${port}`)

console.log(`${cpus()[0]?.model ?? 'a processor'}, ${availableParallelism()} cores, Node ${process.versions.node}`)
await withServer(['--min-delay=0'], async (address, server) => {
  await check(address, origins)
  for (const [size, connections] of [
    [BATCH, 4],
    [1, 32],
  ] as const) {
    await grant(address, size, connections, 2) // until the code is compiled
    const before = processorMs(server)
    const permits = await grant(address, size, connections, SECONDS)
    const each = ((processorMs(server) - before) * 1_000) / permits
    console.log(
      `batches of ${size}: ${rounded(permits / SECONDS)} permits a second, asked for and reported; ${rounded(each)} µs of the server's processor each`,
    )
  }
})
await withServer(['--min-delay=3600'], async (address, server) => {
  const some = origins.slice(0, 1_000)
  await check(address, some)
  const before = megabytes(server)
  const tickets: (string | undefined)[] = []
  const ask = async (from: number) => {
    const ids = Array.from({ length: BATCH }, (_, n) => from + n)
    const requests = ids.map((id) => ({ url: `${some[id % some.length]}/${id}`, ticket: tickets[id] }))
    const { results } = await post(address, '/v1/permits', { requests })
    results.forEach((result: Result, n: number) => {
      if (result.state !== 'wait') throw new Error(`${requests[n]?.url} did not wait: ${JSON.stringify(result)}`)
      tickets[from + n] = result.ticket
    })
  }
  for (let from = 0; from < WAITING; from += BATCH) await ask(from)
  const after = megabytes(server)
  const start = performance.now()
  for (let from = 0; from < WAITING; from += BATCH) await ask(from)
  const seconds = (performance.now() - start) / 1_000
  console.log(
    `${rounded(WAITING)} waiting URLs of ${rounded(some.length)} sites: ${before} MB before, ${after} MB with them`,
  )
  console.log(`${rounded(WAITING / seconds)} of these URLs a second ask again with their tickets`)
})
agent.destroy()
site.close()
site.closeAllConnections()

interface Result {
  readonly state: string
  readonly permit?: string
  readonly ticket?: string
}

/** Starts a server, and ends it after the work. */
async function withServer(flags: readonly string[], work: (address: string, server: ChildProcess) => Promise<void>) {
  const args = [MAIN, '--user-agent=LoadBot/1.0', '--port=0', '--allow-private', ...flags, ...process.argv.slice(2)]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] })
  try {
    let log = ''
    let address: string | undefined
    for await (const chunk of server.stderr) {
      log += chunk
      address = /listens at (\S+)/.exec(log)?.[1]
      if (address !== undefined) break
    }
    if (address === undefined) throw new Error(log)
    await work(address, server)
  } finally {
    server.kill('SIGKILL')
  }
}

/** Lets the server fetch robots.txt of these sites. */
async function check(address: string, sites: readonly string[]): Promise<void> {
  for (let from = 0; from < sites.length; from += 1_000) {
    const lines = sites.slice(from, from + 1_000).map((origin) => JSON.stringify({ url: `${origin}/` }))
    await send(address, '/v1/check', lines.join('\n'), 'application/x-ndjson')
  }
}

/** Asks for permits and reports them, on several connections. Returns how many were granted. */
async function grant(address: string, size: number, connections: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000
  let next = 0
  let granted = 0
  const client = async () => {
    while (performance.now() < end) {
      const requests = Array.from({ length: size }, () => ({ url: `${origins[next++ % SITES]}/page` }))
      const { results } = await post(address, '/v1/permits', { start_within_ms: 1, requests })
      const permits = (results as Result[]).filter(({ state }) => state === 'go').map(({ permit }) => permit)
      if (permits.length === 0) continue
      const reports = permits.map((permit) => ({ permit, status: 200, sent_after_ms: 0 }))
      await post(address, '/v1/reports', { reports })
      granted += permits.length
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  return granted
}

async function post(address: string, path: string, body: object) {
  return JSON.parse(await send(address, path, JSON.stringify(body), 'application/json'))
}

async function send(address: string, path: string, body: string, type: string): Promise<string> {
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
  const call = request(`${address}${path}`, { method: 'POST', agent, headers }).end(body)
  const [response] = await once(call, 'response')
  const answer = await text(response)
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${answer}`)
  return answer
}

/** The memory of a process, its code included. */
function megabytes({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1_024)
}

/** The processor time of a process until now. Linux counts it in hundredths of a second. */
function processorMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Two digits and a thousands separator, such as 36,000. */
function rounded(value: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  return (Math.round(value / step) * step).toLocaleString('en-US')
}
