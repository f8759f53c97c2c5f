// `requestTimeoutMs`: the time limit of a request, from its sending to the end of its response.
import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TimeLimit } from '../src/fetch/time-limit.ts'
import { type PolitelyOptions, politely } from '../src/index.ts'
import { kits } from './kits.ts'
import { simulate } from './simulation.ts'
import { Site } from './site.ts'

describe.each(kits)('politely($name, { requestTimeoutMs })', ({ fetch, Request }) => {
  let site: Site
  let close: () => Promise<void>

  beforeEach(async () => {
    site = await Site.open()
    site.pages.set('/silent', () => undefined)
    site.pages.set('/endless', (_, response) => void response.writeHead(200).write('the beginning'))
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/silent' }).end())
  })
  afterEach(async () => {
    await close()
    await site.close()
  })

  function polite(options: Partial<PolitelyOptions> = {}) {
    const given = { userAgent: 'ExampleBot/1.0', minDelayMs: 0, requestTimeoutMs: 150, ...options } as PolitelyOptions
    const politeFetch = politely(fetch, given)
    close = politeFetch.close
    return politeFetch
  }
  const timeout = (path: string, what: string, ms = 150) => ({
    name: 'TimeoutError',
    constructor: DOMException,
    message: `${site.origin}${path}: ${what} within ${ms} ms after the request was sent (requestTimeoutMs); the wait in the queue does not count`,
  })

  test('rejects a request without a response, releases its slot, and counts it as a failure', async () => {
    const politeFetch = polite({ maxConcurrentPerKey: 1, backoff: { failures: true, firstMs: 1 } })
    const { gate } = politeFetch
    const call = politeFetch(`${site.origin}/silent`)
    const next = call.catch(() => undefined).then(() => gate.enter(`${site.origin}/page`))
    await expect(call).rejects.toMatchObject(timeout('/silent', 'there was no response'))
    ;(await next).release()
    expect(gate.counters).toMatchObject({ pushbacks: 1, done: 2 })
    expect(gate.queues()).toEqual([])
  })

  test('aborts a body that does not end', async () => {
    const response = await polite({ requestTimeoutMs: 600 })(`${site.origin}/endless`)
    await expect(response.text()).rejects.toMatchObject(timeout('/endless', 'the response has not ended', 600))
  })

  test('holds for each redirect hop, and for a Request', async () => {
    const politeFetch = polite({ requestTimeoutMs: 600 })
    const expected = timeout('/silent', 'there was no response', 600)
    const calls = [politeFetch(`${site.origin}/moved`), politeFetch(new Request(`${site.origin}/silent`))]
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ reason: expected })
  })

  test('leaves robots.txt on connections of the client itself, like politely without the option', async () => {
    const politeFetch = polite({ requestTimeoutMs: 60_000 })
    await politeFetch(`${site.origin}/page`)
    expect(await politeFetch.gate.robots.inspect(site.origin)).toMatchObject({ via: 'own' })
  })

  test.each([
    ['a signal of the options', (url: string, signal: AbortSignal) => [url, { signal }]],
    ['a signal of a Request', (url: string, signal: AbortSignal) => [new Request(url, { signal })]],
  ] as [string, (url: string, signal: AbortSignal) => Parameters<typeof fetch>][])(
    '%s still aborts the request, before and after its headers',
    async (_, argumentsOf) => {
      const politeFetch = polite({ requestTimeoutMs: 60_000 })
      for (const path of ['/silent', '/endless']) {
        const controller = new AbortController()
        const reason = new Error('enough')
        const call = politeFetch(...argumentsOf(`${site.origin}${path}`, controller.signal))
        const result = call.then((response) => response.text())
        if (path === '/endless') await call
        else await vi.waitUntil(() => site.lines.includes('GET /silent'))
        controller.abort(reason)
        await expect(result).rejects.toBe(reason)
      }
    },
  )

  test('leaves no listener on the signal of a request that has ended without a body', async () => {
    site.pages.set('/empty', (_, response) => response.writeHead(204).end())
    const { signal } = new AbortController()
    const politeFetch = polite({ requestTimeoutMs: 60_000 })
    await politeFetch(`${site.origin}/empty`, { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

test('the wait in the queue does not count, and the fetch may throw an error of its own', async () => {
  const { gate, site, advance } = await simulate({ 'a.test': '' }, { minDelayMs: 5_000 })
  const sentAt: number[] = []
  const likeNodeFetch = (url: string, init?: { readonly signal?: AbortSignal }) => {
    sentAt.push(Date.now())
    return new Promise<Response>((resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      if (url.endsWith('/2')) setTimeout(resolve, 900, new Response('page'))
    })
  }
  const politeFetch = politely(likeNodeFetch, { gate, requestTimeoutMs: 1_000 })
  const url = site.at('a.test', '/1')
  const first = politeFetch(url.replace('//', '//user:secret@')).catch((error: Error) => error)
  const second = politeFetch(site.at('a.test', '/2'))
  await advance(1_000)
  expect(await first).toMatchObject({ name: 'TimeoutError', message: expect.stringMatching(`^${url}: there was no`) })
  await advance(4_900)
  expect((await second).status).toBe(200)
  expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBe(5_000)
})

test('a limit until the headers stays over after work outside of it', async () => {
  const limit = new TimeLimit('https://example.com/', 10, undefined)
  limit.responded({ body: {} }, true)
  await limit.outside(async () => undefined)
  await sleep(50)
  expect(limit.signal.aborted).toBe(false)
})
