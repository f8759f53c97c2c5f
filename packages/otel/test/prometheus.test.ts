// @module-tag full
// @module-tag sockets
// The dashboard and the alert rules, in a real Prometheus that scrapes a real crawl.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Meter } from '@opentelemetry/api'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { findPrometheus, isMissing } from '@politely/testkit/parts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { observe, serve, startSite } from './observed.ts'

const RULES = join(import.meta.dirname, '../prometheus/politely.rules.yml')
const DASHBOARD = join(import.meta.dirname, '../grafana/politely.json')

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const { panels }: { panels: readonly Panel[] } = JSON.parse(readFileSync(DASHBOARD, 'utf8'))
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
const prometheus = findPrometheus()

test('each panel of the dashboard has a query', () => {
  const empty = panels.filter(({ type, targets = [] }) => type !== 'row' && targets.length === 0)
  expect(empty).toEqual([])
  expect(queries.length).toBeGreaterThan(30)
})

describe.skipIf(isMissing('prometheus', prometheus))('Prometheus', () => {
  const { command = '' } = prometheus ?? {}
  const env = { ...process.env, ...prometheus?.env }

  test('promtool: each alert fires when it must, and only then', async () => {
    const promtool = join(dirname(command), 'promtool')
    const file = join(import.meta.dirname, 'politely.rules.test.yml')
    const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', file], { env })
    expect(stdout).toContain('SUCCESS')
  })

  test("each query of the dashboard has an answer during a crawl, and the rules' queries are valid", async () => {
    const { exporter, meterProvider } = observe()
    const target = await serve((request, response) => exporter.getMetricsRequestHandler(request, response))
    const { origin, process } = await startPrometheus(new URL(target).host)
    const crawl = new AbortController()
    onTestFinished(() => crawl.abort())
    const crawling = Promise.all([
      keepCrawling(crawl.signal),
      keepServing(meterProvider.getMeter('server'), crawl.signal),
    ])

    const ask = async (path: string) => (await (await fetch(`${origin}/api/v1/${path}`)).json()) as { data: unknown }
    const isAnswered = async (expr: string) => {
      const query = expr.replaceAll('$__rate_interval', '10s').replaceAll('$job', '.*')
      const { data } = await ask(`query?query=${encodeURIComponent(query)}`)
      const { result } = data as { result: readonly { readonly value: readonly [number, string] }[] }
      return result.some(({ value: [, value] }) => Number.isFinite(Number(value)))
    }
    const unanswered = async () => {
      const answers = await Promise.all(queries.map(({ expr }) => isAnswered(expr)))
      return queries.filter((_, i) => !answers[i])
    }
    await expect.poll(unanswered, { timeout: 60_000, interval: 1_000 }).toEqual([])
    const healthOfRules = async () => {
      const { data } = await ask('rules')
      const { groups } = data as { groups: { rules: { name: string; health: string; lastError?: string }[] }[] }
      return groups.flatMap(({ rules }) => rules.map(({ health, lastError }) => lastError ?? health))
    }
    await expect.poll(healthOfRules, { timeout: 30_000 }).toEqual(Array(10).fill('ok'))

    crawl.abort()
    await crawling
    process.kill()
    await once(process, 'exit')
  })

  /** Starts a server on a free port of loopback, until the test ends. It scrapes the target each second. */
  async function startPrometheus(target: string): Promise<{ origin: string; process: ChildProcess }> {
    const folder = mkdtempSync(join(tmpdir(), 'politely-prometheus-'))
    const config = join(folder, 'prometheus.yml')
    const yaml = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [RULES],
      scrape_configs: [{ job_name: 'politely', static_configs: [{ targets: [target] }] }],
    }
    writeFileSync(config, JSON.stringify(yaml)) // JSON is YAML
    const child = spawn(
      command,
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${folder}/data`,
        '--web.listen-address=127.0.0.1:0',
        '--log.format=json',
      ],
      { env, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true })
    })
    let address = ''
    for await (const line of createInterface({ input: child.stderr })) {
      const { msg, address: bound } = JSON.parse(line) as { msg?: string; address?: string }
      if (msg === 'Listening on' && bound !== undefined) address = bound
      if (msg === 'Server is ready to receive web requests.') break
    }
    child.stderr.resume()
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
    return { origin: `http://${address}`, process: child }
  }
})

/** Requests pages of three sites, and their robots.txt again and again. One of them is down. */
async function keepCrawling(signal: AbortSignal): Promise<void> {
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  await using gate = new PoliteGate({ robots, minDelayMs: 50 })
  const sites = await Promise.all([startSite(), startSite(404), startSite(500)])
  const busy = `${sites[0]}/busy` // its site rests after a 429; the pages of the others go on
  while (!signal.aborted) {
    const pages = [busy, ...sites.flatMap((origin) => ['/', '/1', '/private'].map((path) => origin + path))]
    const visit = async (page: string) => {
      const permit = await gate.enter(page, { maxWaitMs: 500 })
      permit.release({ status: page === busy ? 429 : 200, headers: {} })
    }
    await Promise.allSettled(pages.map(visit))
    await robots.checkMany(sites, { maxAgeMs: 0 }).next()
    await sleep(100)
  }
}

/**
 * Counts as the server does, by the names of its instruments. The server is another package, and
 * isn't needed to scrape them.
 */
async function keepServing(meter: Meter, signal: AbortSignal): Promise<void> {
  const permits = meter.createCounter('politely.server.permits')
  const reports = meter.createCounter('politely.server.reports')
  const expires = meter.createCounter('politely.server.expires')
  meter.createObservableGauge('politely.server.leases').addCallback((result) => result.observe(3))
  meter.createObservableGauge('politely.server.waiting').addCallback((result) => result.observe(1))
  while (!signal.aborted) {
    for (const state of ['go', 'wait', 'refused', 'full', 'unknown']) permits.add(1, { state })
    for (const status of ['2xx', '4xx']) reports.add(1, { status_class: status })
    expires.add(1)
    await sleep(100)
  }
}
