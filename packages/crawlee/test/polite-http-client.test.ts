import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { BaseHttpClient, HttpRequest } from '@crawlee/basic'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { forgetQueueTimeout } from '@politely/gate/internal'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PoliteHttpClient } from '../src/polite-http-client.ts'

test.each([
  ['is no failure of the site with a timeout of the caller', true, 0],
  ['is a failure of the site without one', false, 1],
])('a request without a response %s', async (_, isTimedOut, circuitsOpened) => {
  const fetch = async () => new Response(null, { status: 404 })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch })
  const gate = new PoliteGate({ robots, circuit: { failures: 1 } })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  const controller = new AbortController()
  const sendRequest = async () => {
    if (isTimedOut) controller.abort(new DOMException('it took too long', 'TimeoutError'))
    controller.signal.throwIfAborted()
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) })
  }
  const deferred = { reachedGate: () => undefined, passedGate: () => undefined }
  const client = new PoliteHttpClient({ sendRequest } as unknown as BaseHttpClient, { gate, deferred })
  const { signal } = controller
  await expect(client.sendRequest({ url: 'https://example.com/', signal })).rejects.toThrow()
  expect(gate.counters).toMatchObject({ started: 1, done: 1, circuitsOpened })
})

test.each<['from-call' | 'from-sending', string[], number]>([
  ['from-call', ['/stream'], 1],
  ['from-sending', ['/stream', '/1', '/2', '/moved', '/3'], 0],
])('callerTimeouts: %s', async (counting, expectedPaths, expectedWarnings) => {
  forgetQueueTimeout() // the warning is emitted once for the process
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const fetch = async () => new Response(null, { status: 404 })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch })
  const gate = new PoliteGate({ robots, minDelayMs: 5_000, now: () => Date.now() })
  onTestFinished(async () => {
    vi.useRealTimers()
    warn.mockRestore()
    gate.close()
    await robots.close()
  })
  const paths: string[] = []
  // Each request takes 700 ms.
  const sendRequest = ({ url, signal }: HttpRequest) => {
    const { pathname } = new URL(url)
    paths.push(pathname)
    const headers = pathname === '/moved' ? { location: '/3' } : {}
    const statusCode = pathname === '/moved' ? 302 : 200
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      setTimeout(resolve, 700, { statusCode, headers, body: 'page', stream: Readable.from(['page']), redirectUrls: [] })
    })
  }
  const inner = { sendRequest, stream: sendRequest } as unknown as BaseHttpClient
  const deferred = { reachedGate: () => undefined, passedGate: () => undefined }
  const hasCallerTimeouts = counting === 'from-sending'
  const client = new PoliteHttpClient(inner, { gate, deferred, hasCallerTimeouts })
  const reason = new DOMException('the caller has no more time', 'TimeoutError')
  const controller = new AbortController()
  const { signal } = controller
  const open = client.stream({ url: 'https://example.com/stream', signal })
  const calls = ['1', '2', 'moved'].map((path) => client.sendRequest({ url: `https://example.com/${path}`, signal }))
  const settled = Promise.allSettled(calls)
  await vi.advanceTimersByTimeAsync(700)
  const { stream } = await open
  stream.resume()
  await once(stream, 'close')
  await vi.advanceTimersByTimeAsync(300)
  controller.abort(reason)
  await vi.advanceTimersByTimeAsync(30_000)
  const ends = await settled
  const errors = ends.map((end) => ('reason' in end ? end.reason.name : end.value.statusCode))
  // The redirect and its hop take 1,400 ms.
  expect(errors).toEqual(
    hasCallerTimeouts ? [200, 200, 'TimeoutError'] : ['TimeoutError', 'TimeoutError', 'TimeoutError'],
  )
  expect(paths).toEqual(expectedPaths)
  expect(warn.mock.calls.filter(([, options]) => Object(options).code === 'POLITELY_TIMEOUT_IN_QUEUE')).toHaveLength(
    expectedWarnings,
  )
  if (expectedWarnings > 0)
    expect(warn.mock.calls[0]?.[0]).toContain("withRobots(crawler, { callerTimeouts: 'from-sending' })")
})
