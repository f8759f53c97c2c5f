// Options of `politely` in a place where they have no effect lead to a process warning.
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { forgetMisplaced } from '../src/fetch/misplaced-options.ts'
import { type PolitelyOptions, politely } from '../src/index.ts'
import { Site } from './site.ts'

const warnings = () => vi.mocked(process.emitWarning).mock.calls.map(([text]) => text)

let site: Site
beforeEach(async () => {
  vi.spyOn(process, 'emitWarning').mockReturnValue()
  forgetMisplaced() // the warnings are emitted once for the process
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
  const inits = [
    { retry: 3, headers: {} },
    { retry: 3 },
    { requestTimeoutMs: 5 },
    { timeoutMs: 100 },
    { timeout: 5000 },
  ]
  for (const init of [...inits, { maxWaitMs: 5, budget: 3 }])
    await politeFetch(`${site.origin}/page`, { signal: null, redirect: 'manual', ...init })
  const here = 'has no effect on politely here, in the options of one request'
  expect(warnings()).toEqual([
    `retry: ${here}; write politely(fetch, { retry: { attempts: 4 } })`,
    `requestTimeoutMs: ${here}; write politely(fetch, { requestTimeoutMs })`,
    `timeoutMs: ${here}; write politely(fetch, { requestTimeoutMs: 100 })`,
    `timeout: ${here}; write politely(fetch, { requestTimeoutMs: 5000 })`,
    `maxWaitMs: ${here}; write politely(fetch, { maxWaitMs })`,
    `budget: ${here}; write politely(fetch, { budget })`,
  ])
  expect(vi.mocked(process.emitWarning).mock.calls[0]?.[1]).toEqual({
    type: 'PolitelyWarning',
    code: 'POLITELY_MISPLACED_OPTION',
  })
})

test.each<[string, object]>([
  ['no value', { logger: undefined, cacheMode: null, retry: false, retries: 0 }],
  [
    'the options of ofetch, which makes a Headers',
    { retry: 2, timeout: 5000, headers: new Headers({ accept: '*/*' }) },
  ],
  ['limits that politely has for robots.txt only', { maxRedirects: 3, maxBodyBytes: 1e6 }],
])('no warning: %s', async (_, init) => {
  await polite()(`${site.origin}/page`, init)
  expect(warnings()).toEqual([])
})

test('no warning of `timeout` for a fetch that may know it', async () => {
  const own = politely((input: string, init?: object) => fetch(input, init), { gate: polite().gate })
  await own(`${site.origin}/page`, { timeout: 5000 } as object)
  expect(warnings()).toEqual([])
})

test('retries, which is for robots.txt, without retry', () => {
  polite({ retries: 0 })
  polite({ retries: 3, retry: undefined })
  expect(warnings()).toEqual([])
  polite({ retries: 5 })
  polite({ retries: 3 })
  expect(warnings()).toEqual([
    'retries: 5 is for requests for robots.txt only; for pages write politely(fetch, { retry: { attempts: 6 } }); if you mean robots.txt, write retry: undefined too',
  ])
})
