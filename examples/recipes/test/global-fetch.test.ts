// The global dispatcher, and its removal.
import { request } from 'undici'
import { expect, test } from 'vitest'
import { politeGlobalFetch } from '../global-fetch.ts'
import { HOME, openTestWeb } from './test-web.ts'

test('fetch and undici obey robots.txt until close', async () => {
  const { sites, gate } = await openTestWeb()
  const close = politeGlobalFetch(gate)
  const url = sites.withPort(`${HOME}/private`)
  await expect(request(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
  await close()
  sites.respond(`${HOME}/private`, { status: 200 })
  await Promise.all([request(url).then(({ body }) => body.dump()), fetch(url).then((response) => response.text())])
  expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`, `${HOME}/private`, `${HOME}/private`])
})

test('close aborts pending requests', async () => {
  const { sites, gate } = await openTestWeb()
  const close = politeGlobalFetch(gate)
  sites.respond(`${HOME}/slow`, new Promise(() => undefined))
  const response = fetch(sites.withPort(`${HOME}/slow`))
  await sites.requested(2) // robots.txt and the page
  await Promise.all([close(), expect(response).rejects.toThrow('fetch failed')])
  await gate.drain()
})
