// Options of `politely` in a place where they have no effect lead to a process warning.
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type PolitelyOptions, politely } from '../src/index.ts'
import { Site } from './site.ts'

const warnings = () => vi.mocked(process.emitWarning).mock.calls.map(([text]) => text)

let site: Site
beforeEach(async () => {
  vi.spyOn(process, 'emitWarning').mockReturnValue()
  site = await Site.open()
})
afterEach(async () => {
  vi.mocked(process.emitWarning).mockRestore()
  await site.close()
})

function polite(options: object = {}) {
  const politeFetch = politely(fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, ...options } as PolitelyOptions)
  onTestFinished(() => politeFetch.close())
  return politeFetch
}

test('an option of politely in the options of one request, once for each name', async () => {
  const politeFetch = polite()
  for (const init of [{ retry: 3, headers: {} }, { retry: 3 }, { requestTimeoutMs: 5 }, { maxWaitMs: 5, budget: 3 }])
    await politeFetch(`${site.origin}/page`, { signal: null, redirect: 'manual', ...init })
  const ofPolitely = 'is an option of politely(fetch, { … }) and has no effect in the options of one request'
  expect(warnings()).toEqual([
    `retry: ${ofPolitely}; write politely(fetch, { retry: { attempts: 3 } })`,
    `requestTimeoutMs: ${ofPolitely}; write politely(fetch, { requestTimeoutMs })`,
    `maxWaitMs: ${ofPolitely}; write politely(fetch, { maxWaitMs })`,
    `budget: ${ofPolitely}; write politely(fetch, { budget })`,
  ])
  expect(vi.mocked(process.emitWarning).mock.calls[0]?.[1]).toEqual({
    type: 'PolitelyWarning',
    code: 'POLITELY_MISPLACED_OPTION',
  })
})

test('retries, which is for robots.txt, without retry', () => {
  polite({ retries: 0 })
  polite({ retries: 3, retry: undefined })
  expect(warnings()).toEqual([])
  polite({ retries: 5 })
  polite({ retries: 3 })
  expect(warnings()).toEqual([
    'retries: 5 is for requests for robots.txt only; for pages write politely(fetch, { retry: { attempts: 5 } })',
  ])
})
