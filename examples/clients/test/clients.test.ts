// @module-tag slow
// @module-tag full
// Each client crawls the same 50 cases, in the language that it is for.
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findCurl, findGo, findPython, isMissing, type Part } from '@politely/testkit/parts'
import { describe, expect, test } from 'vitest'
import { Recorder } from './recorder.ts'
import { CASES, DELAY_MS, PAUSE_MS, type Site, SLOW_MS, startSite, USER_AGENT } from './site.ts'

/** A busy machine may stop a client between its permit and its request. */
const TOLERANCE_MS = 120
/**
 * How long a client may take for all cases, which start hundreds of processes: a minute if nothing
 * else runs.
 */
const CRAWL_MS = 500_000

/** Of the server. */
const MAX_START_WITHIN_MS = 1_000

const HERE = import.meta.dirname
const CLIENTS = join(HERE, '..')

/** What a program prints: when it sent which request, and the outcome of each case. */
type Line = { readonly url: string; readonly sent?: number; readonly outcome?: string }
type Env = Readonly<Record<string, string>>
/** @param folder An empty folder for the files of the crawl. */
type Crawl = (part: Part, urls: readonly string[], env: Env, folder: string) => Promise<readonly Line[]>

const crawls: readonly (readonly [client: string, partName: string, find: () => Part | undefined, crawl: Crawl])[] = [
  ['requests', 'python', () => findPython('scrapy'), crawlWithRequests],
  ['Scrapy', 'python', () => findPython('scrapy'), crawlWithScrapy],
  ['Go', 'go', findGo, crawlWithGo],
  ['curl', 'curl', findCurl, crawlWithCurl],
]

/** Each client takes a minute. The script for curl needs bash 5. */
const mayRun = process.platform === 'linux'

describe('a client', () => {
  for (const [client, partName, find, crawl] of crawls) {
    const part = find()
    test.skipIf(!mayRun || isMissing(partName, part))(
      `in ${client} passes the 50 cases`,
      { concurrent: true, timeout: CRAWL_MS + 60_000 },
      async ({ onTestFinished }) => {
        const folder = await mkdtemp(join(tmpdir(), 'politely-clients-'))
        onTestFinished(() => rm(folder, { recursive: true, force: true }))
        await using other = await startSite()
        await using site = await startSite(other)
        await using recorder = new Recorder(`${other.origin}/other`)
        const env = { POLITELY_SERVER: await recorder.start(), POLITELY_TOKEN: recorder.token }
        const lines = await crawl(
          part as Part,
          CASES.map(([path]) => site.origin + path),
          env,
          folder,
        )

        const outcomes = new Map(
          lines.filter(({ outcome }) => outcome !== undefined).map((line) => [line.url, line.outcome]),
        )
        expect(CASES.map(([path]) => [path, outcomes.get(site.origin + path)])).toEqual(CASES)
        expect(recorder.faults).toEqual([])
        expectObedience(site, other)
        expectReports(recorder, site, other)
        expectPace(lines, site)
      },
    )
  }
})

function expectObedience(site: Site, other: Site): void {
  const pages = [...site.visits, ...other.visits].filter(({ path }) => path !== '/robots.txt')
  expect([...new Set(pages.map(({ userAgent }) => userAgent))]).toEqual([USER_AGENT])
  const refused = new Set(CASES.filter(([, outcome]) => outcome.startsWith('refused')).map(([path]) => path))
  const requested = pages.map(({ path }) => path).filter((path) => !path.startsWith('/to-') && refused.has(path))
  expect(requested).toEqual([])
  expect(pages.filter(({ path }) => path === '/secret')).toEqual([])
  for (const path of ['/drop', '/busy', '/late', '/restart', '/full'])
    expect(
      pages.filter((visit) => visit.path === path),
      path,
    ).toHaveLength(1)
  // Each of the two servers has fetched it once.
  expect(site.visits.filter(({ path }) => path === '/robots.txt')).toHaveLength(2)
}

/** Each permit was used for one request and reported once, or given back. */
function expectReports({ calls, lost }: Recorder, site: Site, other: Site): void {
  const permits = calls
    .filter(({ path }) => path === '/v1/permits')
    .map(({ request, answer }) => ({ ...answer.results[0], ...answer, url: new URL(request.requests[0].url), request }))
  const states = (path: string) => permits.filter(({ url }) => url.pathname === path).map(({ state }) => state)
  const reports = calls
    .filter(({ path }) => path === '/v1/reports')
    .map(({ request, answer }) => ({ ...request.reports[0], state: answer.results[0].state }))
  /** The reports of the permits of a path. A busy client may have given some of the permits back. */
  const reportsOf = (path: string) => {
    const own = permits.filter(({ url }) => url.pathname === path).map(({ permit }) => permit)
    return reports.filter(({ permit }) => own.includes(permit))
  }
  const sentOf = (path: string) => reportsOf(path).find(({ outcome }) => outcome !== 'not-sent')

  const granted = permits.filter(({ state }) => state === 'go').map(({ permit }) => permit)
  const told = reports.filter(({ status, outcome }) => status !== undefined || outcome !== undefined)
  expect(told.map(({ permit }) => permit).toSorted()).toEqual(granted.toSorted())
  const ends = reports.filter(({ end }) => end !== false)
  expect(ends.map(({ permit }) => permit).toSorted()).toEqual(granted.toSorted())
  const sent = told.filter(({ outcome }) => outcome !== 'not-sent')
  const pages = [...site.visits, ...other.visits].filter(({ path }) => path !== '/robots.txt')
  expect(sent).toHaveLength(pages.length)
  expect(sent.filter(({ sent_after_ms }) => sent_after_ms === undefined)).toEqual([])
  // The time that the server holds a call does not count.
  const heldMs = new Map(permits.map(({ permit, held_ms }) => [permit, held_ms]))
  expect(sent.filter(({ permit, sent_after_ms }) => sent_after_ms < (heldMs.get(permit) ?? 0))).not.toEqual([])
  // After its restart, the server does not know the earlier permits.
  expect(reports.filter(({ state }) => state !== 'done' && state !== 'unknown')).toEqual([])

  expect(states('/restart')).toContain('unknown')
  const unknown = permits.findIndex(({ state }) => state === 'unknown')
  expect(
    permits.slice(unknown + 1).find(({ url }) => url.href === permits[unknown]?.url.href)?.request.requests[0],
  ).not.toHaveProperty('ticket')
  // /full itself, or another URL if the client asks for several at once.
  expect(permits.map(({ state }) => state)).toContain('full')
  expect(reportsOf('/late')[0]).toMatchObject({ outcome: 'not-sent' })
  expect(sentOf('/late')).toMatchObject({ status: 200 })
  const late = permits.findIndex(({ url, state }) => url.pathname === '/late' && state === 'go')
  const { start_within_ms: within } = permits[late]?.request ?? {}
  const doubled = Math.min(2 * within, MAX_START_WITHIN_MS)
  expect(permits.slice(late + 1).map(({ request }) => request.start_within_ms)).toContain(doubled)
  expect(lost).toBe(2)
  expect(reportsOf('/gone').map(({ status }) => status)).toContain(410)
  const pause = `${PAUSE_MS / 1_000}`
  expect(sentOf('/busy')).toMatchObject({ status: 429, retry_after: pause })
  const ratelimit = { 'ratelimit-remaining': '0', 'ratelimit-reset': pause }
  expect(sentOf('/limited')).toMatchObject({ status: 200, ratelimit })
  expect(sentOf('/drop')).toMatchObject({ outcome: 'failed' })
  const slow = permits.find(({ permit }) => permit === sentOf('/slow').permit)
  const renewals = calls.filter(({ path, request }) => path === '/v1/renewals' && request.permits[0] === slow.permit)
  expect(slow.lease_ms > SLOW_MS || renewals.length > 0).toBe(true)
}

/** The requests to the site, by the clock of the client, keep its delay and its pauses. */
function expectPace(lines: readonly Line[], site: Site): void {
  const sent = lines
    .filter((line): line is Required<Line> => line.sent !== undefined && line.url.startsWith(`${site.origin}/`))
    .toSorted((a, b) => a.sent - b.sent)
  expect(sent).toHaveLength(site.visits.filter(({ path }) => path !== '/robots.txt').length)
  const gaps = sent
    .slice(1)
    .map((line, n) => ({ after: new URL(sent[n]?.url ?? '').pathname, gap: line.sent - (sent[n]?.sent ?? 0) }))
  const isShort = ({ after, gap }: (typeof gaps)[number]) =>
    gap < (after === '/busy' || after === '/limited' ? PAUSE_MS : DELAY_MS) - TOLERANCE_MS
  expect(gaps.filter(isShort)).toEqual([])
}

function crawlWithRequests(part: Part, urls: readonly string[], env: Env) {
  const path = [join(CLIENTS, 'python'), part.env.PYTHONPATH ?? ''].join(delimiter)
  return linesOf(part.command, ['-B', join(HERE, 'crawl.py')], urls, { ...part.env, ...env, PYTHONPATH: path })
}

function crawlWithScrapy(part: Part, urls: readonly string[], env: Env) {
  const path = [join(CLIENTS, 'python'), part.env.PYTHONPATH ?? ''].join(delimiter)
  const args = ['-B', '-m', 'scrapy', 'runspider', '--loglevel=WARNING', join(HERE, 'spider.py')]
  return linesOf(part.command, args, urls, { ...part.env, ...env, PYTHONPATH: path })
}

async function crawlWithGo(part: Part, urls: readonly string[], env: Env, folder: string) {
  const command = join(folder, 'crawl')
  const cache = join(HERE, '../node_modules/.cache/go')
  const offline = { ...part.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', GOCACHE: cache, CGO_ENABLED: '0' }
  await linesOf(part.command, ['build', '-o', command, '.'], [], offline, join(HERE, 'go'))
  return linesOf(command, [], urls, env)
}

/** Runs the script once for each URL. A curl in front of curl writes down when it starts. */
async function crawlWithCurl(part: Part, urls: readonly string[], env: Env, folder: string) {
  const log = join(folder, 'sent')
  const wrapper = `#!/usr/bin/env bash
[[ \${@: -1} == */v1/* ]] || echo "$EPOCHREALTIME \${@: -1}" >>'${log}'
exec '${part.command}' "$@"
`
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/curl'), wrapper)
  await chmod(join(folder, 'bin/curl'), 0o755)
  const path = [join(folder, 'bin'), process.env.PATH].join(delimiter)
  const lines: Line[] = []
  for (const url of urls) {
    const all = { ...part.env, ...env, POLITELY_HOLD_MS: '2000', PATH: path }
    const { status, stdout, stderr } = await run(join(CLIENTS, 'curl/polite-get.sh'), [url], '', all)
    lines.push({ url, outcome: outcomeOfCurl(status, stdout, stderr) })
  }
  const sent = (await readFile(log, 'utf8')).trim().split('\n')
  return [
    ...lines,
    ...sent.map((line) => ({ url: line.split(' ')[1] ?? '', sent: Number(line.split(' ')[0]) * 1_000 })),
  ]
}

function outcomeOfCurl(status: number | null, stdout: string, stderr: string): string {
  if (status === 4) return 'failed'
  if (status !== 3) return `${stderr.split(' ')[0]} ${stdout}`
  const [{ because, verdict }] = JSON.parse(stderr).results
  return `refused ${because} ${verdict.rule.line}`
}

/** Returns the lines of JSON that a program prints for the URLs on its stdin. */
async function linesOf(command: string, args: readonly string[], urls: readonly string[], env: Env, cwd?: string) {
  const { status, stdout, stderr } = await run(command, args, urls.join('\n'), env, cwd)
  if (status !== 0 || stderr !== '') throw new Error(`${command} ended with ${status}: ${stderr}`)
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line): Line => JSON.parse(line))
}

async function run(command: string, args: readonly string[], input: string, env: Env, cwd = HERE) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, timeout: CRAWL_MS })
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { status, stdout, stderr }
}
