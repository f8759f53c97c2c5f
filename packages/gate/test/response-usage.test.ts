// `usageOf`: what may be done with the page of a response of politely(fetch). What RobotsClient.usage
// reads and answers is tested in packages/fetcher; here, which URL and which client it is asked with.
import type { ServerResponse } from 'node:http'
import { OptionError } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PolitelyOptions, politely, refusalOf, usageOf } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { kits } from './kits.ts'
import { simulate } from './simulation.ts'
import { type Page, Site, until } from './site.ts'

const html: Page = (_, response) =>
  response
    .writeHead(200, { 'content-type': 'text/html', 'content-usage': 'train-ai=n' })
    .end('<head><meta name=robots content=noindex></head><p>text')

let site: Site
beforeEach(async () => {
  site = await Site.open({ '*': 'User-agent: *\nDisallow: /private\nContent-Usage: /page ai-use=y\n' })
  site.pages.set('/page', html)
  site.pages.set('/go', (_, response) => response.writeHead(302, { location: '/page' }).end())
})
afterEach(() => site.close())

const options = (): PolitelyOptions => ({ userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
const withoutFile = { tdmrep: 'ignore' } as const

test.each([
  ['an object', (one: object) => one],
  ['a frozen object', Object.freeze],
])('knows the last request for %s that a fetch returns twice', async (_, made) => {
  const response = made({ status: 200, headers: new Headers(), body: null })
  const fetch = async (_url: string) => response as unknown as Response
  await using polite = politely(fetch, { ...options(), robotsVia: 'own' })
  for (const url of [`${site.origin}/page`, `${site.origin}/other`])
    expect(await usageOf(await polite(url), withoutFile)).toMatchObject({ url })
  Object.freeze(response)
  const url = `${site.origin}/last`
  expect(await usageOf(await polite(url), withoutFile)).toMatchObject({ url })
  expect(Reflect.ownKeys(response)).toEqual(['status', 'headers', 'body'])
})

describe.each(kits)('usageOf($name)', ({ fetch }) => {
  test('answers for the URL after redirects, and leaves the body to the caller', async () => {
    await using polite = politely(fetch, options())
    const response = await polite(`${site.origin}/go`)
    const usage = await usageOf(response)
    expect(usage).toMatchObject({
      url: `${site.origin}/page`,
      page: { reading: 'read' },
      tdmrep: { reading: 'unreadable' },
      purposes: {
        index: { answer: 'disallowed' },
        'ai-input': { answer: 'allowed' },
        'train-ai': { answer: 'disallowed' },
        archive: { answer: 'unstated' },
      },
    })
    expect(await response.text()).toMatch(/<p>text$/)
    expect(site.lines).toEqual(['GET /go', 'GET /page', 'GET /.well-known/tdmrep.json'])
    expect(polite.gate.counters.started).toBe(2) // tdmrep.json needs no slot
  })

  test('passes its options on', async () => {
    await using polite = politely(fetch, options())
    const response = await polite(`${site.origin}/page`)
    expect(await usageOf(response, withoutFile)).toMatchObject({ tdmrep: { reading: 'ignored' } })
    const aborted = usageOf(response, { signal: AbortSignal.abort(new Error('enough')) })
    await expect(aborted).rejects.toThrow('enough')
    await expect(usageOf(response, { tdmrep: 'no' as never })).rejects.toThrow(OptionError)
    expect(site.lines).toEqual(['GET /page'])
  })

  test.each([
    // [lines of X-Robots-Tag, the answer about index for ExampleBot]
    [['otherbot: nofollow', 'noindex'], 'disallowed'],
    [['otherbot: nofollow, noindex'], 'unstated'],
    [['examplebot: nofollow', 'otherbot: noindex', 'all'], 'allowed'],
  ])('keeps the lines of a header apart, which fetch joins: %j', async (lines, answer) => {
    const head = (response: ServerResponse) =>
      response.writeHead(
        200,
        lines.flatMap((line) => ['X-Robots-Tag', line]),
      )
    site.pages.set('/tagged', (_, response) => head(response).end('text'))
    site.pages.set('/to-tagged', (_, response) =>
      response.writeHead(302, { location: '/tagged', 'x-robots-tag': 'a, b' }).end(),
    )
    await using polite = politely(fetch, options())
    for (const path of ['/tagged', '/to-tagged']) {
      const response = await polite(`${site.origin}${path}`)
      const { url } = response
      for (const usage of [
        await usageOf(response, withoutFile),
        await polite.gate.robots.usage(url, response, withoutFile),
      ]) {
        expect(usage.purposes.index.answer).toBe(answer)
        expect(usage.directives.uncertain).toEqual([])
      }
    }
  })

  test('keeps the lines apart if an agent of the same gate sends the request', async () => {
    site.pages.set('/tagged', (_, response) =>
      response.writeHead(200, ['X-Robots-Tag', 'a: noai', 'X-Robots-Tag', 'all']).end(),
    )
    await using polite = politely(fetch, options())
    await using dispatcher = politeAgent({ gate: polite.gate, network: 'any' })
    const response = await polite(`${site.origin}/tagged`, { dispatcher } as object)
    const { directives } = await usageOf(response, withoutFile)
    expect([directives.list.length, directives.uncertain]).toEqual([1, []])
  })

  test('counts an unclear refusal if an interceptor joins the lines', async () => {
    site.pages.set('/tagged', (_, response) =>
      response.writeHead(200, ['X-Robots-Tag', 'noai', 'X-Robots-Tag', 'all']).end(),
    )
    const changed = async (input: string, init?: RequestInit) => {
      const { status } = await fetch(input, init)
      return new Response('', { status, headers: { 'x-robots-tag': 'otherbot: nofollow, noindex' } })
    }
    await using polite = politely(changed as typeof fetch, { ...options(), robotsVia: 'own' })
    const { purposes, conflicts } = await usageOf(await polite(`${site.origin}/tagged`), withoutFile)
    expect(purposes.index.answer).toBe('disallowed')
    expect(conflicts.map(({ kind, purpose }) => `${kind} ${purpose}`)).toContain('unclear-scope index')
    expect(purposes['train-ai'].answer).toBe('unstated')
  })

  test('rejects for a clone, for a response of another fetch, and for other values', async () => {
    await using polite = politely(fetch, options())
    const response = await polite(`${site.origin}/page`)
    const other = await fetch(`${site.origin}/page`)
    const unknown = /^response: no fetch of politely returned it; pass the response itself and not a clone, or write/
    await expect(usageOf(response.clone())).rejects.toThrow(unknown)
    await expect(usageOf(other)).rejects.toThrow(unknown)
    const pending = polite(`${site.origin}/page`)
    await expect(usageOf(pending)).rejects.toThrow('write usageOf(await fetch(url))')
    await pending
    await expect(usageOf(undefined as never)).rejects.toThrow('response: undefined is not a response')
    await response.text()
    await expect(usageOf(response)).rejects.toThrow('its body was read already')
  })
})

test('says of a refusal that it is not the page', async () => {
  await using polite = politely(globalThis.fetch, { ...options(), onDisallowed: 'response' })
  const response = await polite(`${site.origin}/private`)
  const usage = await usageOf(response, withoutFile)
  expect(usage).toMatchObject({ url: `${site.origin}/private`, verdict: { allowed: false } })
  expect(usage.page).toEqual({
    reading: 'not-the-page',
    why: `the request was refused: ${refusalOf(response)?.message}`,
  })
})

test('asks the RobotsClient of the fetch that returned the response', async () => {
  const names = ['OneBot', 'OtherBot'] as const
  site.robots.set('*', 'User-agent: OneBot\nContent-Usage: ai-use=y\n\nUser-agent: OtherBot\nContent-Usage: ai-use=n\n')
  const answers = names.map(async (name) => {
    await using robots = new RobotsClient({ userAgent: name })
    await using polite = politely(globalThis.fetch, { robots, minDelayMs: 0 })
    return (await usageOf(await polite(`${site.origin}/page`), withoutFile)).purposes['ai-input'].answer
  })
  expect(await Promise.all(answers)).toEqual(['allowed', 'disallowed'])
})

test('reads the headers of a response whose body is not a stream of the platform', async () => {
  const { Readable } = await import('node:stream')
  const likeNodeFetch = async (url: string) => {
    const response = await fetch(url)
    const { status, headers } = response
    const body = Readable.from(['<head>'])
    const copy = () => ({ status, headers, body, clone: copy })
    return Object.assign(copy(), { text: () => response.text() })
  }
  await using polite = politely(likeNodeFetch as unknown as typeof fetch, { ...options(), robotsVia: 'own' })
  const response: object = await polite(`${site.origin}/page` as never)
  expect(await usageOf(response, withoutFile)).toMatchObject({ purposes: { 'train-ai': { answer: 'disallowed' } } })
})

test('usageOf answers about the requested URL if the fetch requests pages from another server', async () => {
  const named = site.origin.replace('127.0.0.1', 'named.test')
  const fetchFromSite = (input: string | URL | Request, init?: RequestInit) =>
    fetch(String(input).replace('named.test', '127.0.0.1'), init)
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: async () => new Response('') })
  await using polite = politely(fetchFromSite, { robots, minDelayMs: 0 })
  const response = await polite(`${named}/go`)
  expect([response.url, response.redirected]).toEqual([`${site.origin}/page`, true])
  expect((await usageOf(response, withoutFile)).url).toBe(`${named}/page`)
})

test('usageOf stops the time limit of the page while it fetches its own files', async () => {
  const { gate, site, advance } = await simulate({ 'a.test': '' }, { minDelayMs: 0 })
  const FILE = '/.well-known/tdmrep.json'
  let hold = Promise.withResolvers<void>()
  site.pages.set(FILE, (_, response) => void hold.promise.then(() => response.writeHead(404).end()))
  let endBody = (): void => undefined
  const pageFetch = async (_: string, { signal }: RequestInit = {}) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('<title>a</title><p>text'))
        signal?.addEventListener('abort', () => controller.error(signal.reason))
        endBody = () => controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/html' } })
  }
  const polite = politely(pageFetch, { gate, requestTimeoutMs: 1_000 })
  const pageAfterUsage = async () => {
    hold = Promise.withResolvers()
    await gate.robots.forget(site.at('a.test'))
    const fetched = site.lines.length
    const response = await polite(site.at('a.test', '/page'))
    const usages = [usageOf(response), usageOf(response)]
    await until(() => site.lines.length > fetched)
    await advance(5_000)
    hold.resolve()
    for (const usage of await Promise.all(usages)) expect(usage.tdmrep.reading).toBe('none')
    return response
  }

  const first = await pageAfterUsage()
  await advance(900)
  endBody()
  expect(await first.text()).toBe('<title>a</title><p>text')

  const second = await pageAfterUsage()
  const read = expect(second.text()).rejects.toMatchObject({ name: 'TimeoutError' })
  await advance(1_000)
  await read
})
