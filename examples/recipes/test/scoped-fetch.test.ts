// The global fetch that is polite inside of a function only.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { politely } from '@politely/gate'
import { expect, test } from 'vitest'
import { politeLoaderOptions } from '../langchain.ts'
import { withPoliteFetch } from '../scoped-fetch.ts'
import { HOME, openTestWeb } from './test-web.ts'

test('a loader inside is refused, and other code meanwhile is not', async () => {
  const { sites, gate } = await openTestWeb()
  sites.respond(`${HOME}/private`, { status: 200, headers: { 'content-type': 'text/html' }, body: 'private' })
  const url = sites.withPort(`${HOME}/private`)
  const plain = globalThis.fetch
  let inside: (() => void) | undefined
  const isInside = new Promise<void>((resolve) => {
    inside = resolve
  })
  let leave: (() => void) | undefined
  const mayLeave = new Promise<void>((resolve) => {
    leave = resolve
  })
  const loading = withPoliteFetch(politely(fetch, { gate }), async () => {
    inside?.()
    await mayLeave
    return new CheerioWebBaseLoader(url, { ...politeLoaderOptions, maxConcurrency: 1 }).load()
  })
  const refused = expect(loading).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  await isInside
  expect(globalThis.fetch).not.toBe(plain)
  expect(await (await fetch(url)).text()).toBe('private')
  leave?.()
  await refused
  expect(globalThis.fetch).toBe(plain)
  expect(gate.counters.refusals).toEqual({ rule: 1 })
})

test('scopes may overlap, and each has its fetch', async () => {
  const plain = globalThis.fetch
  const named = (name: string) => (async () => new Response(name)) as typeof fetch
  const read = () => fetch('https://example.com/').then((response) => response.text())
  const texts = await Promise.all([
    withPoliteFetch(named('a'), async () => [await read(), await withPoliteFetch(named('b'), read)]),
    withPoliteFetch(named('c'), read),
  ])
  expect(texts).toEqual([['a', 'b'], 'c'])
  expect(globalThis.fetch).toBe(plain)
})

test('other code may keep and wrap the fetch of a scope', async () => {
  const plain = globalThis.fetch
  const stub = (async () => new Response('plain')) as typeof fetch
  const read = () => fetch('https://example.com/').then((response) => response.text())
  globalThis.fetch = stub
  await withPoliteFetch(stub, async () => {
    const kept = globalThis.fetch
    globalThis.fetch = (...args) => kept(...args)
  })
  const wrapped = globalThis.fetch
  const polite = (async (...args) => new Response(`polite ${await (await wrapped(...args)).text()}`)) as typeof fetch
  expect(await withPoliteFetch(polite, read)).toBe('polite plain')
  const [inside, outside] = [withPoliteFetch(polite, read), read()]
  expect([await inside, await outside]).toEqual(['polite plain', 'plain'])
  expect(globalThis.fetch).toBe(wrapped)
  globalThis.fetch = plain
})
