import type { BaseHttpClient } from '@crawlee/basic'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { expect, onTestFinished, test } from 'vitest'
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
