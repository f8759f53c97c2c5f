// The answer to an invalid URL: docs/reference/errors.md.
import { describeVerdict } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { invalidUrlCases, notUrls, urlCaseName, urlCases } from '@politely/testkit/cases/url-cases'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { assertOwnHost, PoliteGate, politely, refusalOf } from '../src/index.ts'
import { kits } from './kits.ts'

let robots: RobotsClient
let gate: PoliteGate
beforeAll(() => {
  robots = new RobotsClient({
    userAgent: 'ExampleBot/1.0',
    fetch: async () => new Response('User-agent: *\nAllow: /\n'),
  })
  gate = new PoliteGate({ robots, minDelayMs: 0 })
})
afterAll(async () => {
  await gate.drain()
  expect(gate.queues()).toEqual([])
  gate.close()
  await robots.close()
})

const invalid = invalidUrlCases.map((one) => ({ ...one, name: urlCaseName(one) }))
const valid = urlCases
  .filter(({ url, problem }) => problem === 'none' && !url.startsWith('ftp:'))
  .map((one) => ({ ...one, name: urlCaseName(one) }))

describe('PoliteGate', () => {
  test.each(invalid)('$name', async ({ url, problem }) => {
    const before = gate.counters.refusals['invalid-url'] ?? 0
    const verdict = { url: expect.any(String), allowed: false, because: 'invalid-url', problem }
    await expect(gate.enter(url)).rejects.toMatchObject({
      code: 'ERR_POLITELY_DISALLOWED',
      verdict,
      retryAt: undefined,
    })
    expect(await gate.check(url)).toEqual({ ...verdict, url })
    expect(await gate.when(url)).toEqual({ allowed: false, verdict: { ...verdict, url }, retryAt: undefined })
    expect(gate.counters.refusals['invalid-url']).toBe(before + 2)
  })

  test('refuses an invalid URL inside of a permit, too', async () => {
    const permit = await gate.enter('https://example.com/page')
    await expect(permit.run(() => gate.enter('example.com/page'))).rejects.toMatchObject({
      code: 'ERR_POLITELY_DISALLOWED',
    })
    permit.release()
  })

  test.each(valid)('$name', async ({ url }) => {
    const permit = await gate.enter(url)
    permit.release()
  })

  test.each(notUrls)('%s is a mistake of the caller', async (_, value) => {
    const url = value as string
    for (const call of [gate.enter(url), gate.check(url), gate.when(url)])
      await expect(call).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'url' })
  })

  test.each(invalid.filter(({ problem }) => problem === 'malformed'))('assertOwnHost, $name', ({ url }) => {
    const call = () => assertOwnHost(url, ['example.com'])
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'url' }))
  })
})

describe.each(kits)('politely($name)', ({ Request }) => {
  const send = vi.fn(async (..._: unknown[]) => new Response('page'))
  const fetch = () => politely(send, { gate }) as unknown as (input: unknown, init?: unknown) => Promise<Response>

  test.each(invalid)('$name', async ({ url, problem }) => {
    send.mockClear()
    const verdict = { allowed: false, because: 'invalid-url', problem }
    const inits = [
      undefined,
      { headers: { host: 'example.com' } },
      new Request('https://example.com/', { method: 'PUT' }),
    ]
    for (const init of inits)
      await expect(fetch()(url, init)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED', verdict })
    const answering = politely(send, { gate, onDisallowed: 'response' }) as unknown as typeof globalThis.fetch
    const response = await answering(url)
    expect(response.status).toBe(403)
    const error = refusalOf(response)
    expect(error?.verdict).toMatchObject(verdict)
    expect(error?.message).toContain(error && describeVerdict(error.verdict))
    expect(send).not.toHaveBeenCalled()
  })

  test.each(valid)('$name', async ({ url }) => {
    expect(await (await fetch()(url)).text()).toBe('page')
  })

  // A list and a Request convert to a URL, as they do for fetch.
  test.each(notUrls.filter(([name]) => name !== 'a list' && name !== 'a Request'))(
    '%s is a mistake of the caller',
    async (_, value) => {
      const error = await fetch()(value).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(TypeError) // like the errors of fetch
      expect(error).toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'url' })
    },
  )
})
