// The option `evidence`: which decisions and results a sink gets, on each way of a request through a
// gate. The sinks themselves have tests in `@politely/evidence`.

import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { type Decision, type DecisionResult, type EvidenceSink, RobotsClient } from '@politely/fetcher'
import { expect, onTestFinished, test } from 'vitest'
import { gatePort } from '../src/gate.ts'
import {
  type CachedRequest,
  type CacheExchange,
  type FetchResponse,
  PoliteGate,
  type PolitelyOptions,
  politeHttpAgent,
  politely,
  usageOf,
} from '../src/index.ts'
import { siteQueue } from '../src/site-queue/index.ts'
import { Site } from './site.ts'

const ROBOTS = 'User-agent: *\nDisallow: /private/\n'

/** Keeps what it is told, in order. */
class Kept implements EvidenceSink {
  readonly decisions: Decision[] = []
  readonly results: DecisionResult[] = []
  /** What the next decisions wait for. */
  written: Promise<void> | undefined
  failure: Error | undefined

  decided(decision: Decision) {
    if (this.failure !== undefined) throw this.failure
    this.decisions.push(decision)
    return { id: `d${this.decisions.length}`, written: this.written }
  }

  ended(result: DecisionResult): void {
    this.results.push(result)
  }

  /** `use path verdict`, and after `<` the paths that led to the URL. */
  get lines(): string[] {
    return this.decisions.map(({ use, verdict, redirectedFrom }) => {
      const from = redirectedFrom.map((url) => new URL(url).pathname)
      const path = URL.canParse(verdict.url) ? new URL(verdict.url).pathname : verdict.url
      return [use, path, verdict.because, ...(from.length > 0 ? ['<', ...from] : [])].join(' ')
    })
  }

  get ends(): string[] {
    return this.results.map(({ id, outcome, status }) => `${id} ${outcome} ${status ?? ''}`.trim())
  }
}

async function opened(options: Partial<PolitelyOptions> = {}, robots: string = ROBOTS) {
  const kept = new Kept()
  const site = await Site.open({ '*': robots })
  const fetch = politely(globalThis.fetch, {
    userAgent: 'ExampleBot/1.0',
    network: 'any',
    minDelayMs: 0,
    evidence: kept,
    ...options,
  } as PolitelyOptions)
  onTestFinished(async () => {
    await fetch.close()
    await site.close()
  })
  return { kept, site, fetch, url: (path: string) => `${site.origin}${path}` }
}

const discarded = async (response: Promise<Response>): Promise<Response> => {
  await (await response).text()
  return response
}

test('each URL and each hop is a decision, and each request that was sent has a result', async () => {
  const { kept, site, fetch, url } = await opened()
  site.pages.set('/old', (_, response) => response.writeHead(302, { location: '/new' }).end())
  await discarded(fetch(url('/a')))
  await discarded(fetch(url('/old')))
  await expect(fetch(url('/private/x'))).rejects.toThrow('disallow')
  await expect(fetch('page.html')).rejects.toThrow('no scheme')
  expect(kept.lines).toEqual([
    'request /a no-rule-matched',
    'request /old no-rule-matched',
    'request /new no-rule-matched < /old',
    'request /private/x rule',
    'request page.html invalid-url',
  ])
  expect(kept.ends).toEqual(['d1 answered 200', 'd2 answered 302', 'd3 answered 200'])
  const [{ entry, headers, client, at }] = kept.decisions as [Decision]
  expect(entry?.copy?.bytes).toBe(ROBOTS)
  expect(headers?.['content-length'] ?? headers?.['transfer-encoding']).toBeDefined()
  expect(client).toMatchObject({ userAgent: 'ExampleBot/1.0', productTokens: ['ExampleBot'], maxBodyBytes: 512_000 })
  expect(kept.decisions[1]?.client).toBe(client)
  expect(Math.abs(at - Date.now())).toBeLessThan(60_000)
  expect(kept.results[0]?.permit).toMatchObject({ waitedFor: 'none', key: site.origin })
})

test('a check of the client or of the gate is a decision of its own, once', async () => {
  const { kept, fetch, url } = await opened()
  const { robots } = fetch.gate
  await robots.check(url('/1'))
  await robots.isAllowed(url('/2'))
  robots.checkNow(url('/private/3'))
  for await (const verdict of robots.checkMany([url('/4'), url('/5')])) expect(verdict.allowed).toBe(true)
  await robots.check(url('/6'), { maxAgeMs: 60_000 })
  await fetch.gate.check(url('/7'))
  await fetch.gate.when(url('/8')) // an estimate
  await robots.explain(url('/9'))
  expect(kept.lines).toEqual([
    'check /1 no-rule-matched',
    'check /2 no-rule-matched',
    'check /private/3 rule',
    'check /4 no-rule-matched',
    'check /5 no-rule-matched',
    'check /6 no-rule-matched',
    'check /7 no-rule-matched',
  ])
  expect(kept.decisions[5]?.maxAgeMs).toBe(60_000)
  expect(kept.results).toEqual([])
})

test('the sink of a gate gets the answers of usage, not the sink of its client', async () => {
  const kept = new Kept()
  const ofClient = new Kept()
  const { site, url } = await opened()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', evidence: ofClient })
  const gate = new PoliteGate({ robots, evidence: kept })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  await usageOf(await politely(globalThis.fetch, { gate })(url('/1')), { tdmrep: 'ignore' })
  expect(kept.ends).toEqual(['d1 answered 200', 'd1 noted'])
  expect([...ofClient.lines, ...ofClient.ends]).toEqual([])
  expect(site.lines).toEqual(['GET /1'])
})

test('a gate may have a sink of its own', async () => {
  const { site, url } = await opened()
  const kept = new Kept()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any' })
  const gate = new PoliteGate({ robots, minDelayMs: 0, evidence: kept })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  await robots.check(url('/1'))
  const permit = await gate.enter(url('/2'))
  permit.release({ status: 404, headers: {} })
  ;(await gate.enter(url('/3'))).release({ failed: true, error: Object.assign(new Error('x'), { code: 'ECONNRESET' }) })
  ;(await gate.enter(url('/4'))).release()
  expect(kept.lines).toEqual(['/2', '/3', '/4'].map((path) => `request ${path} no-rule-matched`))
  expect(kept.ends).toEqual(['d1 answered 404', 'd2 failed', 'd3 not-reported'])
  expect(site.lines).toEqual([])
})

test('a request that does not start says why', async () => {
  const { kept, fetch, url } = await opened({ minDelayMs: 60_000, maxWaitMs: 100 })
  await discarded(fetch(url('/1')))
  await expect(fetch(url('/2'))).rejects.toMatchObject({ code: 'ERR_POLITELY_WAIT' })
  await expect(fetch(url('/3'), { signal: AbortSignal.abort() })).rejects.toThrow()
  expect(kept.ends).toEqual(['d1 answered 200', 'd2 not-sent'])
  expect(kept.results[1]?.error).toMatchObject({ code: 'ERR_POLITELY_WAIT' })
})

test('a request that robots.txt disallows, and the option obey admits', async () => {
  const { kept, fetch, url } = await opened({ obey: { rules: false, delays: true } })
  await discarded(fetch(url('/private/x')))
  expect(kept.lines).toEqual(['request /private/x rule'])
  expect(kept.decisions[0]).toMatchObject({ verdict: { allowed: false }, obey: { rules: false } })
  expect(kept.ends).toEqual(['d1 answered 200'])
})

test('a request is sent when its decision is written, and not at all if it is not', async () => {
  const { kept, site, fetch, url } = await opened()
  await discarded(fetch(url('/1')))
  const writing = Promise.withResolvers<void>()
  kept.written = writing.promise
  const waiting = fetch(url('/2'))
  const checking = fetch.gate.robots.check(url('/3'))
  await discarded(Promise.race([globalThis.fetch(url('/other')), waiting])) // enough turns to be sent
  expect(site.lines).toEqual(['GET /1', 'GET /other'])
  writing.resolve()
  await discarded(waiting)
  expect((await checking).allowed).toBe(true)
  kept.written = Promise.reject(new Error('no space'))
  await expect(fetch(url('/4'))).rejects.toThrow('no space')
  kept.failure = new Error('disk full')
  await expect(fetch(url('/5'))).rejects.toThrow('disk full')
  await expect(fetch(url('/private/6'))).rejects.toThrow('disk full')
  await expect(fetch.gate.robots.check(url('/7'))).rejects.toThrow('disk full')
  expect(site.lines).toEqual(['GET /1', 'GET /other', 'GET /2'])
  expect(fetch.gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
  await fetch.gate.drain() // nothing is left that it would wait for
  kept.failure = undefined
  kept.written = undefined
  await discarded(fetch(url('/8')))
  expect(site.lines.at(-1)).toBe('GET /8')
})

test('an abort, and the end of the gate or client, end the wait for a decision to be written', async () => {
  const { kept, site, fetch, url } = await opened()
  const { gate } = fetch
  await discarded(fetch(url('/1')))
  kept.written = new Promise(() => undefined)
  await expect(fetch(url('/2'), { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout')
  await expect(gate.robots.check(url('/3'), { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout')
  await expect(gate.check(url('/4'), { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout')
  const entering = expect(gate.enter(url('/5'))).rejects.toThrow('the gate is closed')
  const checking = expect(gate.robots.check(url('/6'))).rejects.toThrow('is closed')
  await new Promise(setImmediate)
  await fetch.close()
  await Promise.all([entering, checking])
  expect(kept.ends).toEqual(['d1 answered 200', 'd2 not-sent', 'd5 not-sent'])
  expect(gate.gauges).toMatchObject({ waiting: 0, underWay: 0 })
  await gate.drain()
  expect(site.lines).toEqual(['GET /1'])
})

test('a sink that throws when a permit is given back holds up nothing', async () => {
  const { kept, fetch, url } = await opened()
  const permit = await gatePort(fetch.gate).enterAnew(url('/1'), undefined, [])
  kept.ended = () => {
    throw new Error('broken')
  }
  expect(() => permit.giveBack(new Error('not sent'))).toThrow('broken')
  await fetch.gate.drain()
  expect(fetch.gate.gauges.underWay).toBe(0)
})

test('a result says why a request got no response', async () => {
  const { kept, site, fetch, url } = await opened()
  const arrived = Promise.withResolvers<void>()
  site.pages.set('/never', () => arrived.resolve())
  const ending = new AbortController()
  const aborted = expect(fetch(url('/never'), { signal: ending.signal })).rejects.toThrow('left')
  await arrived.promise
  ending.abort(new Error('left'))
  await aborted
  ;(await fetch.gate.enter(url('/2'))).release({ rateLimited: true })
  expect(kept.ends).toEqual(['d1 failed', 'd2 answered'])
  expect(kept.results[0]?.error).toMatchObject({ message: 'left' })
})

test('a sink gets no other options of the client than those that decide', async () => {
  const { kept, fetch, url } = await opened()
  await discarded(fetch(url('/1')))
  const names = ['userAgent', 'productTokens', 'dialect', 'policy', 'maxBodyBytes']
  expect(Object.keys(kept.decisions[0]?.client ?? {})).toEqual(names)
})

test('the headers of a robots.txt to which another origin has redirected', async () => {
  const { kept, site, fetch } = await opened()
  const target = await Site.open({ '*': ROBOTS })
  onTestFinished(() => target.close())
  const location = `${target.origin}/robots.txt`
  site.robots.set('*', (_, response) => response.writeHead(301, { location }).end())
  await fetch.gate.robots.check(`${site.origin}/1`)
  await fetch.gate.robots.check(`${target.origin}/1`)
  expect(target.robotsFetches).toBe(1)
  expect(kept.decisions.map(({ headers }) => headers?.['content-length'])).toEqual(['34', '34'])
})

test('rules that change while a request waits are a decision that replaces the first', async () => {
  const { kept, site, fetch, url } = await opened({ minDelayMs: 300 })
  await discarded(fetch(url('/1')))
  const [second, third] = [fetch(url('/2'), { redirectedFrom: [url('/1')] }), fetch(url('/3'))]
  const refused = expect(third).rejects.toThrow('disallow')
  site.robots.set('*', 'User-agent: *\nDisallow: /3\n')
  await fetch.gate.robots.check(url('/'), { maxAgeMs: 0 })
  await discarded(second)
  await refused
  const requests = kept.decisions.filter(({ use }) => use === 'request')
  expect(requests.map(({ verdict, replaces }) => [verdict.url.slice(-1), verdict.allowed, replaces])).toEqual([
    ['1', true, undefined],
    ['2', true, undefined],
    ['3', true, undefined],
    ['2', true, 'd2'],
    ['3', false, 'd3'],
  ])
  expect(requests.map(({ redirectedFrom }) => redirectedFrom.length)).toEqual([0, 1, 0, 1, 0])
  expect(kept.ends).toEqual(['d1 answered 200', 'd5 answered 200'])
})

test('a page of a cache is a decision without a request', async () => {
  let stored: Response | undefined
  const cache = {
    async respond(request: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
      if (stored === undefined) {
        const sent = (await exchange.send(request.headers)) as Response
        stored = sent.clone()
        return sent
      }
      await exchange.check()
      return exchange.adopt(stored.clone(), [])
    },
  }
  const { kept, site, fetch, url } = await opened({ cache })
  await discarded(fetch(url('/1')))
  await discarded(fetch(url('/1')))
  expect(kept.lines).toEqual(['request /1 no-rule-matched', 'stored-page /1 no-rule-matched'])
  expect(kept.ends).toEqual(['d1 answered 200', 'd2 stored-page 200'])
  expect(site.lines).toEqual(['GET /1'])
})

test('a page that a cache has after a request is of the decision about that request', async () => {
  const cache = {
    async respond({ headers }: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
      await exchange.send(headers).catch(() => undefined)
      return exchange.adopt(new Response('stored'), [])
    },
  }
  const { kept, site, fetch, url } = await opened({ cache })
  site.pages.set('/304', (_, response) => response.writeHead(304).end())
  site.pages.set('/broken', ({ socket }) => socket.destroy())
  for (const path of ['/304', '/broken']) await usageOf(await fetch(url(path)), { tdmrep: 'ignore' })
  expect(kept.lines).toEqual(['request /304 no-rule-matched', 'request /broken no-rule-matched'])
  expect(kept.ends).toEqual(['d1 answered 304', 'd1 noted', 'd2 failed', 'd2 noted'])
})

test('a page of a cache waits for its decision too', async () => {
  const cache = {
    async respond(_: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
      await exchange.check()
      return exchange.adopt(new Response('stored'), [])
    },
  }
  const { kept, fetch, url } = await opened({ cache })
  await fetch.gate.robots.check(url('/'))
  kept.written = Promise.reject(new Error('no space'))
  await expect(fetch(url('/1'))).rejects.toThrow('no space')
})

test('URLs of a site queue, which get their permits before they are requested', async () => {
  const { kept, fetch, url } = await opened()
  const queue = siteQueue([url('/1'), url('/private/2'), url('/3')], { gate: fetch.gate })
  for await (const item of queue) if (item.refused === undefined) await discarded(fetch(item.url))
  expect(kept.lines.sort()).toEqual([
    'request /1 no-rule-matched',
    'request /3 no-rule-matched',
    'request /private/2 rule',
  ])
  expect(kept.ends.map((end) => end.slice(3))).toEqual(['answered 200', 'answered 200'])
})

test('answers of usage, and the key that signed', async () => {
  const sign = {
    sign: () => ({ 'signature-input': 'sig1=("@authority");created=1;keyid="key-1"', signature: 'sig1=:AA==:' }),
    challenged: () => false,
  }
  const { kept, fetch, url } = await opened({ sign }, `${ROBOTS}Content-Signal: ai-train=no\n`)
  const response = await fetch(url('/1'))
  await usageOf(response, { tdmrep: 'ignore' })
  await fetch.gate.robots.usage(url('/2'), undefined, { tdmrep: 'ignore' })
  expect(kept.lines).toEqual(['request /1 no-rule-matched', 'check /2 no-rule-matched'])
  expect(kept.ends).toEqual(['d1 answered 200', 'd1 noted', 'd2 noted'])
  expect(kept.results[0]?.keyId).toBe('key-1')
  expect(kept.results[1]?.usage).toMatchObject({ 'train-ai': 'disallowed' })
})

test('requests of node:http', async () => {
  const { kept, site, fetch, url } = await opened()
  const agent = politeHttpAgent(new Agent(), fetch.gate)
  const [response] = await once(get(url('/1'), { agent }), 'response')
  response.resume()
  await fetch.gate.drain()
  const arrived = Promise.withResolvers<void>()
  site.pages.set('/2', () => arrived.resolve())
  const request = get(url('/2'), { agent })
  const left = expect(once(request, 'response')).rejects.toThrow('left')
  await arrived.promise
  request.destroy(new Error('left'))
  await left
  await fetch.gate.drain()
  expect(kept.lines).toEqual(['request /1 no-rule-matched', 'request /2 no-rule-matched'])
  expect(kept.ends).toEqual(['d1 answered 200', 'd2 failed'])
  expect(kept.results[1]?.error).toMatchObject({ message: 'left' })
})

test('a sink without its methods is refused where it is given', () => {
  expect(() => new RobotsClient({ userAgent: 'ExampleBot/1.0', evidence: 'evidence' as never })).toThrow(
    'evidence: "evidence" is not an object; expected a sink, such as evidenceFiles({ dir: "evidence" }) of @politely/evidence',
  )
})
