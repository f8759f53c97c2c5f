// The global dispatcher: what it leaves behind.
import { request } from 'undici'
import { expect, test } from 'vitest'
import { politeGlobalFetch } from '../global-fetch.ts'
import { HOME, openNarrowWeb } from './kit.ts'

test('undici is polite, too, and neither is after it was closed', async () => {
  const { sites, gate } = await openNarrowWeb()
  const close = politeGlobalFetch(gate)
  const url = sites.withPort(`${HOME}/private`)
  await expect(request(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
  await close()
  sites.answer(`${HOME}/private`, { status: 200 })
  await Promise.all([request(url).then(({ body }) => body.dump()), fetch(url).then((response) => response.text())])
  expect(sites.asked).toEqual([`${HOME}/robots.txt`, `${HOME}/private`, `${HOME}/private`])
})

test('close ends what is under way', async () => {
  const { sites, gate } = await openNarrowWeb()
  const close = politeGlobalFetch(gate)
  sites.answer(`${HOME}/slow`, new Promise(() => undefined))
  const answer = fetch(sites.withPort(`${HOME}/slow`))
  await sites.requested(2) // robots.txt, and this one
  await Promise.all([close(), expect(answer).rejects.toThrow('fetch failed')])
  await gate.drain()
})
