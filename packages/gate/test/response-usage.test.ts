// `usageOf`: what may be done with the page of a response of politely(fetch). What RobotsClient.usage
// reads and answers is tested in packages/fetcher; here, which URL and which client it is asked with.
import { OptionError } from '@politely/core'
import { RobotsClient } from '@politely/fetcher'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PolitelyOptions, politely, refusalOf, usageOf } from '../src/index.ts'
import { kits } from './kits.ts'
import { type Page, Site } from './site.ts'

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
