// Why the recipes do not use the libraries' own hooks: a hook sees only the first URL of a
// redirect.
import axios from 'axios'
import Crawler from 'crawler'
import ky from 'ky'
import { expect, test } from 'vitest'
import { HOME, openTestWeb, type TestWeb } from './test-web.ts'

const hooks: readonly { readonly name: string; get(web: TestWeb, url: string): Promise<unknown> }[] = [
  {
    name: 'an interceptor of axios',
    async get({ gate }, url) {
      const client = axios.create()
      client.interceptors.request.use(async (config) => {
        ;(await gate.enter(config.url ?? '')).release()
        return config
      })
      await client.get(url)
    },
  },
  {
    name: 'beforeRequest of ky',
    async get({ gate }, url) {
      await ky(url, { hooks: { beforeRequest: [async ({ request }) => (await gate.enter(request.url)).release()] } })
    },
  },
  {
    name: 'preRequest of node-crawler',
    get({ gate }, url) {
      const crawler = new Crawler({ jQuery: false, silence: true })
      return new Promise((resolve, reject) => {
        crawler.add({
          url,
          preRequest: ({ url = '' }, go) => void gate.enter(url).then((permit) => go(permit.release() ?? null), go),
          callback: (error, response, done) => {
            done()
            if (error) reject(error)
            else resolve(response)
          },
        })
      })
    },
  },
]

test.each(hooks)('$name does not see the hop of a redirect', async ({ get }) => {
  const web = await openTestWeb()
  web.sites.respond(`${HOME}/moved`, { status: 302, headers: { location: '/private' } })
  web.sites.respond(`${HOME}/private`, { status: 200 })
  await get(web, web.sites.withPort(`${HOME}/moved`))
  expect(web.sites.requestedUrls).toEqual([`${HOME}/robots.txt`, `${HOME}/moved`, `${HOME}/private`])
})

test('send of node-crawler does not call preRequest', async () => {
  const { sites } = await openTestWeb()
  sites.respond(`${HOME}/private`, { status: 200 })
  const crawler = new Crawler({ jQuery: false, silence: true, preRequest: (_, go) => go(new Error('no')) })
  await crawler.send(sites.withPort(`${HOME}/private`))
  expect(sites.requestedUrls).toEqual([`${HOME}/private`])
})
