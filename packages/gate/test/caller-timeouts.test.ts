// `callerTimeouts`: whether a timeout in the signal of a call counts the wait.
import { getEventListeners, once } from 'node:events'
import { Agent, get } from 'node:http'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { forgetQueueTimeout } from '../src/adapter/queue-timeout.ts'
import type { PoliteFetchOptions } from '../src/fetch/politely.ts'
import {
  type PacingOptions,
  type PoliteGate,
  type PolitelyOptions,
  politeHttpAgent,
  politely,
  resolveGate,
} from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { kits } from './kits.ts'
import { simulate } from './simulation.ts'
import { Site, until } from './site.ts'

const CODE = 'POLITELY_TIMEOUT_IN_QUEUE'
const timedOut = () => new DOMException('the caller has no more time', 'TimeoutError')

const warnings = () =>
  vi.mocked(process.emitWarning).mock.calls.map(([text, options]) => [Object(options).code, text] as const)
beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockReturnValue()
  forgetQueueTimeout() // the warning is emitted once for the process
})
afterEach(() => vi.mocked(process.emitWarning).mockRestore())

/** What a site does with a request. The time is simulated. */
interface Reply {
  /** Undefined: it never responds. */
  readonly afterMs?: number
  readonly status?: number
  readonly location?: string
}

/** A crawl on simulated time. The fetch that is wrapped needs no network, and obeys its signal. */
async function crawl(
  options: Omit<PacingOptions, 'pacer'> & Pick<PoliteFetchOptions, 'requestTimeoutMs' | 'callerTimeouts' | 'retry'>,
  replies: Readonly<Record<string, Reply | readonly Reply[]>> = {},
) {
  const { retry, requestTimeoutMs, callerTimeouts = 'from-sending', ...ofGate } = options
  const { gate, site, advance, start } = await simulate({ 'a.test': '' }, { minDelayMs: 5_000, ...ofGate })
  const sent: [path: string, atMs: number][] = []
  const signals: (AbortSignal | undefined)[] = []
  const send = (url: string, init?: { readonly signal?: AbortSignal }) => {
    const path = new URL(url).pathname
    signals.push(init?.signal)
    sent.push([path, Date.now() - start])
    const given = replies[path] ?? { afterMs: 0 }
    const count = sent.filter(([one]) => one === path).length
    const { afterMs, status = 200, location } = (Array.isArray(given) ? given[count - 1] : given) as Reply
    const headers = location === undefined ? {} : { location: site.at('a.test', location) }
    return new Promise<Response>((resolve, reject) => {
      const fail = () => reject(init?.signal?.reason)
      if (init?.signal?.aborted) fail()
      init?.signal?.addEventListener('abort', fail)
      if (afterMs !== undefined) setTimeout(resolve, afterMs, new Response('page', { status, headers }))
    })
  }
  const politeFetch = politely(send, { gate, callerTimeouts, retry, requestTimeoutMs })
  /** How the calls have ended: after how many milliseconds, and with which status or error. */
  const ends: Record<string, readonly [atMs: number, end: unknown]> = {}
  /** Calls the fetch, and aborts its signal `timeoutMs` later. */
  const call = (path: string, timeoutMs = Number.NaN, reason: unknown = timedOut()) => {
    const controller = new AbortController()
    if (timeoutMs >= 0) setTimeout(() => controller.abort(reason), timeoutMs)
    const ended = (end: unknown) => {
      ends[path] = [Date.now() - start, end]
    }
    politeFetch(site.at('a.test', path), { signal: controller.signal }).then(({ status }) => ended(status), ended)
    return controller
  }
  return { call, ends, sent, signals, advance, gate }
}

test('a timeout that fires during the wait ends the request as long after its sending', async () => {
  const { call, ends, sent, advance } = await crawl({}, { '/2': {}, '/3': { afterMs: 900 } })
  const reason = timedOut()
  call('/1', 1_000)
  call('/2', 1_000, reason)
  call('/3', 1_000)
  await advance(5_999)
  expect(sent).toEqual([
    ['/1', 0],
    ['/2', 5_000],
  ])
  expect(ends).toEqual({ '/1': [0, 200] })
  await advance(1)
  expect(ends['/2']?.[0]).toBe(6_000)
  expect(ends['/2']?.[1]).toBe(reason)
  await advance(5_000)
  expect(ends['/3']).toEqual([10_900, 200])
  expect(warnings()).toEqual([])
})

test('a timeout that fires while the request is under way leaves it what it has waited', async () => {
  const { call, ends, advance } = await crawl({}, { '/2': {} })
  call('/1')
  call('/2', 7_000, Object.assign(new Error('of ofetch'), { name: 'TimeoutError' })) // it is sent after 5 seconds
  await advance(11_999)
  expect(ends['/2']).toBeUndefined()
  await advance(1)
  expect(ends['/2']).toEqual([12_000, expect.objectContaining({ name: 'TimeoutError' })])
})

test('the time under way adds up over hops and attempts, and the waits between them do not count', async () => {
  const { call, ends, sent, advance } = await crawl(
    { retry: { attempts: 3 } },
    {
      '/1': { afterMs: 400, status: 302, location: '/2' },
      '/2': [{ afterMs: 400, status: 500 }, {}],
    },
  )
  call('/1', 1_000)
  await advance(60_000)
  // 400 ms and 400 ms, then the last request has 200 ms.
  const [, , last] = sent
  expect(sent.map(([path]) => path)).toEqual(['/1', '/2', '/2'])
  expect(ends['/1']).toEqual([(last?.[1] ?? 0) + 200, expect.objectContaining({ name: 'TimeoutError' })])
})

test('a timeout under way counts as a failure of the site, as before', async () => {
  for (const callerTimeouts of ['from-call', 'from-sending'] as const) {
    const { call, ends, advance, gate } = await crawl({ circuit: { failures: 1 }, callerTimeouts }, { '/1': {} })
    call('/1', 1_000)
    await advance(1_000)
    expect([ends['/1']?.[0], gate.counters.circuitsOpened]).toEqual([1_000, 1])
    vi.useRealTimers()
  }
})

test.each([
  ['the last attempt', {}, 2],
  ['an attempt before it, if the gate refuses the last one', { budget: 1 }, 1],
])('an abort still ends the body of the response that the call gets: of %s', async (_, options, sentCount) => {
  const broken = { '/1': { afterMs: 100, status: 500 } }
  const { call, ends, signals, advance } = await crawl({ ...options, retry: { attempts: 2 } }, broken)
  const controller = call('/1')
  await advance(20_000)
  expect(ends['/1']?.[1]).toBe(500)
  expect(signals.length).toBe(sentCount)
  controller.abort('enough')
  expect(signals.at(-1)?.reason).toBe('enough')
})

test('requestTimeoutMs and maxWaitMs hold as well', async () => {
  const { call, ends, advance } = await crawl({ requestTimeoutMs: 300, maxWaitMs: 6_000 }, { '/1': {} })
  call('/1', 1_000)
  call('/2', 1_000)
  call('/3', 1_000)
  await advance(5_000)
  expect(ends['/1']).toEqual([300, expect.objectContaining({ message: expect.stringContaining('requestTimeoutMs') })])
  expect(ends['/3']).toEqual([0, expect.objectContaining({ code: 'ERR_POLITELY_WAIT' })])
})

test('an abort with another reason ends the call at once, wherever it is', async () => {
  const { call, ends, sent, advance } = await crawl({}, { '/1': {} })
  call('/1', 2_000, 'stopped under way')
  call('/2', 2_000, new DOMException('stopped while it waits', 'AbortError'))
  call('/3', 2_000, Object.assign(new Error('a timer of the client'), { code: 'ETIMEDOUT' }))
  await advance(2_000)
  expect(ends).toEqual({
    '/1': [2_000, 'stopped under way'],
    '/2': [2_000, expect.objectContaining({ name: 'AbortError', waitedMs: 2_000 })],
    '/3': [2_000, expect.objectContaining({ code: 'ETIMEDOUT' })],
  })
  expect(sent).toEqual([['/1', 0]])
  expect(warnings()).toEqual([[CODE, expect.stringContaining('write politely(fetch, { requestTimeoutMs })')]])
})

describe.each(kits)('politely($name, { callerTimeouts: "from-sending" })', ({ fetch, Request }) => {
  let site: Site
  beforeEach(async () => {
    site = await Site.open()
    onTestFinished(() => site.close())
  })
  function polite(options: Partial<PolitelyOptions> = {}) {
    const given = { userAgent: 'ExampleBot/1.0', minDelayMs: 0, callerTimeouts: 'from-sending', ...options }
    const politeFetch = politely(fetch, given as PolitelyOptions)
    onTestFinished(() => politeFetch.close())
    return politeFetch
  }

  test('with AbortSignal.timeout, no page is lost to a robots.txt and a queue that take longer', {
    tags: 'full',
  }, async () => {
    site.robots.set('*', (_, response) => void setTimeout(() => response.end(''), 1_100))
    const politeFetch = polite({ minDelayMs: 100 })
    const signal = AbortSignal.any([AbortSignal.timeout(1_000)])
    const calls = [
      politeFetch(`${site.origin}/1`, { signal }),
      politeFetch(new Request(`${site.origin}/2`, { signal })),
      politeFetch(`${site.origin}/3`, { signal }),
    ]
    const texts = calls.map(async (call) => (await call).text())
    expect(await Promise.all(texts)).toEqual(['page /1', 'page /2', 'page /3'])
    expect(signal.aborted).toBe(true)
  })

  test('the body counts: reading it rejects with the reason of the signal', async () => {
    site.pages.set('/endless', (_, response) => void response.writeHead(200).write('the beginning'))
    site.pages.set('/silent', () => undefined)
    const politeFetch = polite()
    const [endless, silent] = [AbortSignal.timeout(300), AbortSignal.timeout(300)]
    const response = await politeFetch(`${site.origin}/endless`, { signal: endless })
    const error = await politeFetch(`${site.origin}/silent`, { signal: silent }).catch((thrown) => thrown)
    expect(error).toBe(silent.reason)
    expect(await response.text().catch((thrown) => thrown)).toBe(endless.reason)
    expect(endless.reason).toMatchObject({ name: 'TimeoutError' })
  })

  test('the body of an attempt that is returned because the next one is refused counts', async () => {
    site.pages.set('/endless', (_, response) => void response.writeHead(500).write('the beginning'))
    const politeFetch = polite({ retry: { attempts: 2 }, budget: 1 })
    const signal = AbortSignal.timeout(300)
    const response = await politeFetch(`${site.origin}/endless`, { signal })
    expect(site.lines).toEqual(['GET /endless'])
    expect(await response.text().catch((thrown) => thrown)).toBe(signal.reason)
  })

  test('a signal that is aborted already rejects at once', async () => {
    const signal = AbortSignal.abort(timedOut())
    await expect(polite()(`${site.origin}/page`, { signal })).rejects.toBe(signal.reason)
    expect(site.lines).toEqual([])
  })

  test('leaves nothing on a signal of the whole program', async () => {
    site.pages.set('/empty', (_, response) => response.writeHead(204).end())
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/empty' }).end('moved'))
    site.robots.set('*', 'User-agent: *\nDisallow: /no')
    const politeFetch = polite({ onDisallowed: 'response' })
    const { signal } = new AbortController()
    for (const path of ['/empty', '/moved', '/no']) await politeFetch(`${site.origin}${path}`, { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    for (const page of [1, 2, 3]) await (await politeFetch(`${site.origin}/${page}`, { signal })).text()
    expect(getEventListeners(signal, 'abort').length).toBeLessThan(2)
  })
})

describe(CODE, () => {
  const REMEDY = "write politely(fetch, { callerTimeouts: 'from-sending' })"

  test('says what a request waited for that its own timeout ended, once', async () => {
    const { site, gate, advance } = await simulate({ 'a.test': 'Crawl-delay: 10' })
    const politeFetch = politely(async (_url: string, _init?: RequestInit) => new Response('page'), { gate })
    const controller = new AbortController()
    const calls = ['/1', '/2', '/3'].map((path) => politeFetch(site.at('a.test', path), { signal: controller.signal }))
    await advance(2_000)
    controller.abort(timedOut())
    await Promise.allSettled(calls)
    expect(warnings()).toEqual([
      [
        CODE,
        expect.stringMatching(/a\.test:\d+\/[23] had waited 2 s \(crawl-delay, origin\) when its own timeout ended it/),
      ],
    ])
    expect(warnings()[0]?.[1]).toContain(REMEDY)
  })

  test.each<[client: string, get: (url: string, gate: PoliteGate, signal: AbortSignal) => Promise<unknown>]>([
    ['politeAgent', (url, gate, signal) => undici.request(url, { dispatcher: politeAgent({ gate }), signal })],
    [
      'politeHttpAgent',
      (url, gate, signal) => once(get(url, { agent: politeHttpAgent(new Agent(), gate), signal }), 'response'),
    ],
  ])('says what to do with %s, which sends the request itself', async (_, request) => {
    const site = await Site.open()
    const { gate, close } = resolveGate({ userAgent: 'ExampleBot/1.0', minDelayMs: 60_000 })
    onTestFinished(async () => {
      await close()
      await site.close()
    })
    const first = await gate.enter(`${site.origin}/1`)
    first.release()
    const controller = new AbortController()
    const call = request(`${site.origin}/2`, gate, controller.signal)
    await until(() => gate.gauges.waiting === 1)
    controller.abort(timedOut())
    await expect(call).rejects.toThrow()
    const text = /\/2 had waited .+ \(own-delay, origin\).+: raise its timeout, limit the wait with maxWaitMs/
    expect(warnings()).toEqual([[CODE, expect.stringMatching(text)]])
  })

  test('knows the pause before a retry', async () => {
    const options = { callerTimeouts: 'from-call', retry: { attempts: 2 } } as const
    const { call, ends, advance } = await crawl(options, { '/1': { afterMs: 100, status: 500 } })
    call('/1', 500)
    await advance(500)
    expect(ends['/1']).toEqual([500, expect.objectContaining({ name: 'TimeoutError' })])
    expect(warnings()).toEqual([[CODE, expect.stringContaining('(the pause before a retry) when its own')]])
  })

  test('knows a wait for robots.txt, and no other abort', async () => {
    const site = await Site.open({ '*': () => undefined })
    const politeFetch = politely(fetch, { userAgent: 'ExampleBot/1.0' })
    onTestFinished(async () => {
      await politeFetch.close()
      await site.close()
    })
    for (const reason of [new Error('enough'), timedOut()]) {
      const controller = new AbortController()
      const call = politeFetch(`${site.origin}/page`, { signal: controller.signal })
      await until(() => site.robotsFetches === 1)
      controller.abort(reason)
      await expect(call).rejects.toBe(reason)
    }
    await politeFetch(`${site.origin}/page`, { signal: AbortSignal.abort(timedOut()) }).catch(() => undefined)
    expect(warnings()).toEqual([[CODE, expect.stringContaining('(robots.txt) when its own')]])
  })
})
