// The warning about a permit that is not released, and its age in `queues()`.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RobotsClient } from '@politely/fetcher'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Permit, PoliteGate, type PoliteGateOptions } from '../src/index.ts'
import { simulate } from './simulation.ts'
import { lookup, Site, until } from './site.ts'

/** A gate, and the warnings of the process and of its logger. */
async function watched(options: Omit<PoliteGateOptions, 'robots'>) {
  const warnings: unknown[][] = []
  const emit = vi.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => void warnings.push(args))
  const log: string[] = []
  const site = await Site.open()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  const logger = { warn: (line: string) => log.push(line) }
  const gate = new PoliteGate({ robots, minDelayMs: 0, logger, ...options })
  onTestFinished(async () => {
    emit.mockRestore()
    gate.close()
    await robots.close()
    await site.close()
  })
  return { gate, site, warnings, log }
}

test('a permit that is not released causes one warning for its gate, and one log line', async () => {
  const { gate, site, warnings, log } = await watched({ releaseWarningMs: 20, maxConcurrentPerKey: 3 })
  const url = site.at('a.test', '/page')
  await gate.enter(url.replace('//', '//user:password@'))
  await until(() => log.length > 0)
  await gate.enter(site.at('b.test'))
  await new Promise((resolve) => setTimeout(resolve, 60))
  const message = `the permit for ${url} has not been released for 20 ms, and requests may wait for it; release each permit: read each response to its end, or call permit.release(); if requests take longer, write the option releaseWarningMs; NODE_DEBUG=politely shows where the request entered the gate`
  expect(warnings).toEqual([[message, { type: 'PolitelyWarning', code: 'POLITELY_UNRELEASED_PERMIT' }]])
  expect(log).toEqual([message])
})

test.each<[what: string, options: Omit<PoliteGateOptions, 'robots'>, end: (permit: Permit, gate: PoliteGate) => void]>([
  ['a released permit', { releaseWarningMs: 10 }, (permit) => permit.release()],
  ['a permit of a closed gate', { releaseWarningMs: 10 }, (_, gate) => gate.close()],
  ['releaseWarningMs: Infinity', { releaseWarningMs: Number.POSITIVE_INFINITY }, () => undefined],
])('%s causes none', async (_, options, end) => {
  const { gate, site, warnings, log } = await watched(options)
  end(await gate.enter(site.at('a.test')), gate)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([warnings, log]).toEqual([[], []])
})

test('permits that are released in time cause none, however many there are', async () => {
  const { gate, site, warnings } = await watched({ releaseWarningMs: 100, maxConcurrentPerKey: 2 })
  const end = performance.now() + 250
  let last: Permit | undefined
  while (performance.now() < end) {
    const permit = await gate.enter(site.at('a.test'))
    last?.release() // so one permit is open at any time
    last = permit
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  last?.release()
  expect(warnings).toEqual([])
})

test('queues() shows the age of the oldest permit of each queue', async () => {
  const { gate, enter, advance } = await simulate({ 'a.test': '', 'b.test': '' }, { minDelayMs: 1_000 })
  const first = await enter('1', 'a.test')
  const other = await enter('1', 'b.test')
  const second = enter('2', 'a.test')
  await advance(5_000)
  expect(gate.queues()).toMatchObject([
    { underWay: 2, oldestMs: 5_000 },
    { underWay: 1, oldestMs: 5_000 },
  ])
  first.release()
  expect(gate.queues()).toMatchObject([{ underWay: 1, oldestMs: 4_000 }, { oldestMs: 5_000 }])
  ;(await second).release()
  const waiting = enter('3', 'a.test')
  other.release()
  await advance()
  const [queue] = gate.queues()
  expect(queue).toMatchObject({ underWay: 1, oldestMs: 0 })
  ;(await waiting).release()
  expect(gate.queues()).toEqual([])
})

test('with NODE_DEBUG=politely the warning has the stack of enter, and it keeps no process alive', {
  tags: 'full',
}, async () => {
  const child = join(import.meta.dirname, 'unreleased-child.ts')
  const env = { ...process.env, NODE_DEBUG: 'politely' }
  const { stdout } = await promisify(execFile)(process.execPath, [child], { env })
  const [code, detail] = JSON.parse(stdout)
  expect(code).toBe('POLITELY_UNRELEASED_PERMIT')
  expect(detail).toContain('enter(http://127.0.0.1:')
  expect(detail).toContain('at forgetsToRelease')
})

test.each([
  [
    'waits',
    'wait (1) for permits that have not been released, such as the permit for URL/1; release each permit: read each',
  ],
  ['waits, with an unread response of undici', 'such as the permit for URL/1'],
  ['waits, and close', undefined],
  ['waits, and releaseWarningMs: Infinity', undefined],
  ['nothing waits', undefined],
])('a process that ends while a permit is not released: %s', { tags: 'full' }, async (name, warning) => {
  const site = await Site.open()
  onTestFinished(() => site.close())
  site.pages.set('/1', (_, response) => response.end('x'.repeat(10_000_000)))
  const child = join(import.meta.dirname, 'ending-child.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [child, name, site.origin])
  const warnings: string[] = JSON.parse(stdout)
  expect(warnings.map((text) => text.replaceAll(site.origin, 'URL'))).toEqual(
    warning === undefined ? [] : [expect.stringContaining(warning)],
  )
  for (const text of warnings)
    expect(text).toMatch(/^POLITELY_UNRELEASED_PERMIT: the process ends, but requests still wait \(1\) for permits/)
})
