// The process warning about a request whose User-Agent does not name the crawler whose rules the
// gate applies.
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { RobotsClient } from '@politely/fetcher'
import { request } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate, politeHttpAgent, politely } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { Site } from './site.ts'

type Send = (gate: PoliteGate, url: string, headers: Record<string, string>) => Promise<unknown>

const adapters: readonly (readonly [name: string, send: Send])[] = [
  ['politely', async (gate, url, headers) => (await politely(fetch, { gate })(url, { headers })).text()],
  [
    'politeAgent',
    async (gate, url, headers) => {
      const dispatcher = politeAgent({ gate })
      await (await request(url, { dispatcher, headers })).body.dump()
      await dispatcher.close()
    },
  ],
  [
    'politeHttpAgent',
    async (gate, url, headers) => {
      const [response] = await once(get(url, { agent: politeHttpAgent(new Agent(), gate), headers }), 'response')
      await response.toArray()
    },
  ],
]

const cases: readonly (readonly [header: string | undefined, warnings: number])[] = [
  ['OtherBot/2.0', 1],
  ['Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', 1],
  ['Mozilla/5.0 (compatible; examplebot/2.0)', 0],
  ['ExampleBot-News', 0],
  ['My name is a secret', 0], // the client's own userAgent, of which the client has warned
  [undefined, 0],
]

test.each(adapters.flatMap(([name, send]) => cases.map(([header, count]) => ({ name, send, header, count }))))(
  '$name emits $count warnings about the User-Agent $header, for two requests of one gate',
  async ({ send, header, count }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const site = await Site.open({ '*': '' })
    const robots = new RobotsClient({ userAgent: 'My name is a secret', productToken: ['ExampleBot', 'Example'] })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    onTestFinished(async () => {
      warn.mockRestore()
      gate.close()
      await robots.close()
      await site.close()
    })
    const headers: Record<string, string> = header === undefined ? {} : { 'User-Agent': header }
    for (const path of ['/1', '/2']) await send(gate, site.origin + path, headers)
    const sent = header ?? robots.userAgent
    expect(site.seen.map(({ headers }) => headers['user-agent'])).toEqual([sent, sent])
    const text = `the User-Agent header of a request is "${header}", but robots.txt is read for ExampleBot or Example; leave the header out, or write it as the option userAgent`
    const warning = [text, { type: 'PolitelyWarning', code: 'POLITELY_USER_AGENT' }]
    expect(warn.mock.calls).toEqual(Array.from({ length: count }, () => warning))
  },
)
