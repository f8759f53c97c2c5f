// Measures how many permits a second one server grants, in batches of 500, with its pace in memory:
//
//   node packages/server/test/several-servers/throughput.ts [the built main.js of a server]
//
// It prints a line for each run: the permits a second of the calls for permits alone, and of the
// calls for permits and for their reports; then the permits for each second of the server's CPU,
// without and with reports, which depend less on what else runs. Linux only.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const [main = join(import.meta.dirname, '../../dist/main.js')] = process.argv.slice(2)
const BATCH = 500
const RUNS = 3
const RUN_MS = 8_000

/** One origin for each URL of a batch, so that no permit waits for another. */
const sites = Array.from({ length: BATCH }, () =>
  createServer((_, response) => response.end('User-agent: *\nDisallow: /private\n')),
)
const origins = await Promise.all(
  sites.map(async (site) => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  }),
)

const flags = ['--user-agent', 'ExampleBot/1.0', '--port', '0', '--allow-private', '--min-delay', '0']
const server = spawn(process.execPath, [main, ...flags, '--max-per-site', '500'], {
  stdio: ['ignore', 'ignore', 'pipe'],
})
const { promise: address, resolve: listens } = Promise.withResolvers<string>()
createInterface(server.stderr).on('line', (line) => listens(/listens at (\S+)/.exec(line)?.[1] ?? ''))
const url = await address
const agent = new Agent({ keepAlive: true })

// biome-ignore lint/suspicious/noExplicitAny: an answer of the server
async function post(path: string, body: object): Promise<any> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = { 'content-type': 'application/json' }
  const call = request(`${url}${path}`, { method: 'POST', agent, headers }, resolve)
  call.on('error', reject)
  call.end(JSON.stringify(body))
  const response = await promise
  const chunks: Buffer[] = await response.toArray()
  if (response.statusCode !== 200) throw new Error(`${Buffer.concat(chunks)}`)
  return JSON.parse(`${Buffer.concat(chunks)}`)
}

/** Grants and ends one batch. Returns the number of permits, and the times of both calls. */
async function batch(n: number) {
  const requests = origins.map((origin) => ({ url: `${origin}/page/${n}` }))
  const startAt = performance.now()
  const cpuAtStart = cpuSeconds()
  const { results } = await post('/v1/permits', { start_within_ms: 1, requests })
  const grantedAt = performance.now()
  const grantCpu = cpuSeconds() - cpuAtStart
  const permits: string[] = results
    .filter((result: { permit?: string }) => result.permit)
    .map((r: { permit: string }) => r.permit)
  const reports = permits.map((permit) => ({ permit, status: 200, sent_after_ms: 0 }))
  if (reports.length > 0) await post('/v1/reports', { reports })
  return { permits: permits.length, grantMs: grantedAt - startAt, allMs: performance.now() - startAt, grantCpu }
}

/** Returns the CPU time of the server in seconds: the fields 14 and 15 of its stat file, in hundredths. */
function cpuSeconds(): number {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

while ((await batch(0)).permits < BATCH) await sleep(100)
for (let run = 0; run < RUNS; run++) {
  const total = { permits: 0, grantMs: 0, allMs: 0, grantCpu: 0 }
  const cpuBefore = cpuSeconds()
  for (let n = 1; total.allMs < RUN_MS; n++) {
    const { permits, grantMs, allMs, grantCpu } = await batch(n)
    total.permits += permits
    total.grantMs += grantMs
    total.allMs += allMs
    total.grantCpu += grantCpu
  }
  const cpu = cpuSeconds() - cpuBefore
  const [alone, all] = [total.grantMs, total.allMs].map((ms) => Math.round((total.permits / ms) * 1_000))
  const [aloneOfCpu, allOfCpu] = [total.grantCpu, cpu].map((seconds) => Math.round(total.permits / seconds))
  console.log(
    `${alone} permits a second, ${all} with their reports; for a second of CPU ${aloneOfCpu}, ${allOfCpu} with their reports`,
  )
}
server.kill('SIGKILL')
agent.destroy()
for (const site of sites) {
  site.close()
  site.closeAllConnections()
}
