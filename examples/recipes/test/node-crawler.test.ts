// Features of node-crawler: `send`, and a timeout that the recipe changes.
import { expect, test } from 'vitest'
import { politeCrawler } from '../node-crawler.ts'
import { HOME, openTestWeb } from './test-web.ts'

test('send obeys robots.txt', async () => {
  const { sites, gate } = await openTestWeb()
  const crawler = politeCrawler(gate, { jQuery: false, silence: true })
  const refusal = crawler.send(sites.withPort(`${HOME}/private`))
  await expect(refusal).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
  expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`])
})

test('times out if a page does not respond', async () => {
  const { sites, gate } = await openTestWeb()
  sites.respond(`${HOME}/slow`, new Promise(() => undefined))
  const crawler = politeCrawler(gate, { jQuery: false, silence: true, timeout: 100 })
  await expect(crawler.send(sites.withPort(`${HOME}/slow`))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await gate.drain()
})
