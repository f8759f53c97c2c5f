// Requests for one page at the same time, through one PageCache at a real site.
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { cacheOf } from '../src/index.ts'
import { TestSite } from './site.ts'

const FRESH = { 'cache-control': 'max-age=600' }

/** A site whose page /a is sent when the test says so. */
async function openSite(headers: Record<string, string> = FRESH) {
  const site = await TestSite.open()
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let count = 0
  site.pages.set('/a', async (_, response) => {
    const body = `page ${++count}`
    arrived.resolve()
    await released.promise
    response.writeHead(200, headers).end(body)
  })
  return { site, arrived: arrived.promise, release: released.resolve }
}

const text = async (response: Response): Promise<string> => `${await response.text()} (${cacheOf(response)?.state})`

describe('requests for one page at the same time', () => {
  test('send one request, and all get the page', async () => {
    const { site, arrived, release } = await openSite()
    const fetch = site.fetch(site.cache())
    const calls = Array.from({ length: 20 }, () => fetch('/a').then(text))
    await arrived
    release()
    const pages = await Promise.all(calls)
    expect(pages).toEqual(['page 1 (stored)', ...Array(19).fill('page 1 (hit)')])
    expect(site.lines).toEqual(['GET /a'])
  })

  test('the others get the page even if the first reads nothing of it, or cancels it', async () => {
    for (const end of ['unread', 'cancelled']) {
      const { site, arrived, release } = await openSite()
      const fetch = site.fetch(site.cache())
      const first = fetch('/a')
      const second = fetch('/a').then(text)
      await arrived
      release()
      const response = await first
      if (end === 'cancelled') await response.body?.cancel()
      expect(await second).toBe('page 1 (hit)')
      expect(site.lines).toEqual(['GET /a'])
    }
  })

  test('an abort ends its own call only', async () => {
    const { site, arrived, release } = await openSite()
    const fetch = site.fetch(site.cache())
    const controllers = [new AbortController(), new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => fetch('/a', { signal }).then(text))
    await arrived
    controllers[1]?.abort(new Error('enough of the second'))
    await expect(calls[1]).rejects.toThrow('enough of the second')
    controllers[0]?.abort(new Error('enough of the first'))
    await expect(calls[0]).rejects.toThrow('enough of the first')
    release()
    expect(await calls[2]).toBe('page 2 (stored)')
    expect(site.lines).toEqual(['GET /a', 'GET /a'])
  })

  test('a page that may not be stored is sent to each', async () => {
    const { site, arrived, release } = await openSite({ 'cache-control': 'no-store' })
    const fetch = site.fetch(site.cache())
    const calls = [fetch('/a').then(text), fetch('/a').then(text), fetch('/a').then(text)]
    await arrived
    release()
    expect((await Promise.all(calls)).toSorted()).toEqual(['page 1 (bypass)', 'page 2 (bypass)', 'page 3 (bypass)'])
  })

  test('requests with cookies, credentials or another variant are sent', async () => {
    const { site, arrived, release } = await openSite({ ...FRESH, vary: 'accept-language' })
    const fetch = site.fetch(site.cache())
    const calls = [{}, { cookie: 'a=1' }, { authorization: 'Basic YQ==' }, { 'accept-language': 'fr' }].map((headers) =>
      fetch('/a', { headers }).then(text),
    )
    await arrived
    release()
    await Promise.all(calls)
    expect(site.lines).toHaveLength(4)
  })

  test('a page longer than the buffer is read from the store, when the first has read it', async () => {
    const site = await TestSite.open()
    const body = Buffer.alloc(5_000_000, 'abcdefgh')
    site.pages.set('/a', (_, response) => response.writeHead(200, FRESH).end(body))
    const fetch = site.fetch(site.cache())
    const first = fetch('/a')
    const second = fetch('/a').then(async (response) => Buffer.from(await response.arrayBuffer()))
    const slow = (await first).body as ReadableStream<Uint8Array>
    let bytes = 0
    for await (const chunk of slow) {
      bytes += chunk.length
      await setTimeout(1)
    }
    expect(bytes).toBe(body.length)
    expect(body.equals(await second)).toBe(true)
    expect(site.lines).toEqual(['GET /a'])
  })

  test('a connection that is lost is an error of the first; the next request is sent', async () => {
    const site = await TestSite.open()
    let count = 0
    site.pages.set('/a', ({ socket }, response) =>
      ++count === 1 ? setImmediate(() => socket.destroy()) : response.writeHead(200, FRESH).end('page'),
    )
    const fetch = site.fetch(site.cache())
    const calls = [fetch('/a').then(text), fetch('/a').then(text), fetch('/a').then(text)]
    await expect(calls[0]).rejects.toThrow('fetch failed')
    expect(await Promise.all(calls.slice(1))).toEqual(['page (stored)', 'page (stored)'])
    expect(site.lines).toEqual(['GET /a', 'GET /a', 'GET /a'])
  })

  test('calls that wait for each other get a page of any length', { tags: 'full' }, async () => {
    for (const length of [3_000_000, 6_000_000]) {
      const site = await TestSite.open()
      site.pages.set('/a', (_, response) => response.writeHead(200, FRESH).end('x'.repeat(length)))
      const fetch = site.fetch(site.cache())
      const responses = await Promise.all([fetch('/a'), fetch('/a'), fetch('/a')]) // none is read before all are there
      for (const response of responses) expect(await response.text()).toHaveLength(length)
    }
  })

  test('a body that does not end holds up no other request, and ends when it is cancelled', async () => {
    const site = await TestSite.open()
    let open = 0
    site.pages.set('/events', (_, response) => {
      open++
      response.on('close', () => open--)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    site.pages.set('/endless', (_, response) => {
      open++
      const timer = setInterval(() => response.write('x'.repeat(300_000)), 1)
      response.on('close', () => {
        open--
        clearInterval(timer)
      })
      response.writeHead(200, FRESH)
    })
    const fetch = site.fetch(site.cache({ maxEntryBytes: 2_000_000 }))
    for (const path of ['/events', '/endless']) {
      const [first, second] = await Promise.all([fetch(path), fetch(path)])
      for (const response of [first, second]) await response.body?.cancel()
    }
    await vi.waitFor(() => expect(open).toBe(0))
  })
})
