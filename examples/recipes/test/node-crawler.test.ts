// What only node-crawler has: `send`, and a timeout that the recipe corrects.
import { expect, test } from 'vitest'
import { politeCrawler } from '../node-crawler.ts'
import { HOME, openNarrowWeb } from './kit.ts'

test('send is checked, too', async () => {
  const { sites, gate } = await openNarrowWeb()
  const crawler = politeCrawler(gate, { jQuery: false, silence: true })
  const refusal = crawler.send(sites.withPort(`${HOME}/private`))
  await expect(refusal).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
  expect(sites.asked).toEqual([`${HOME}/robots.txt`])
})

test('its timeout ends a page that is silent', async () => {
  const { sites, gate } = await openNarrowWeb()
  sites.answer(`${HOME}/slow`, new Promise(() => undefined))
  const crawler = politeCrawler(gate, { jQuery: false, silence: true, timeout: 100 })
  await expect(crawler.send(sites.withPort(`${HOME}/slow`))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await gate.drain()
})
