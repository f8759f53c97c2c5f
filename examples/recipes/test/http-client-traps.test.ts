// @module-tag full
// The last column of the table in docs/http-clients.md: what does not work with the real packages.
import { once } from 'node:events'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { politely } from '@politely/gate'
import { getGlobalDispatcher, request, setGlobalDispatcher } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { JSDOM, type Names, namesOf } from './http-clients.ts'
import { importSource, runSource } from './import-source.ts'
import { HOME, openTestWeb, type TestWeb } from './test-web.ts'

const importPackage = (name: string) => importSource(`export * from '${name}'\nexport { default } from '${name}'`)

interface Web extends TestWeb {
  readonly names: Names
  /** Returns the URL of a path of the site. */
  at(path: string): string
  /** The paths that the site got requests for. */
  requested(): readonly string[]
}

async function openWeb(): Promise<Web> {
  const web = await openTestWeb()
  web.sites.respond(`${HOME}/hop`, { status: 302, headers: { location: '/private' } })
  web.sites.respond(`${HOME}/private`, { status: 200, headers: { 'content-type': 'text/html' }, body: 'private' })
  web.sites.respond(`${HOME}/to-https`, { status: 302, headers: { location: 'https://localhost:PORT/' } })
  const names = namesOf(web.gate)
  onTestFinished(() => names.dispatcher.destroy())
  return {
    ...web,
    names,
    at: (path) => web.sites.withPort(HOME + path),
    requested: () => web.sites.requestedUrls.map((url) => url.slice(HOME.length)),
  }
}

describe('what the table of HTTP clients warns of', () => {
  test('node-fetch with an agent: the error of a refusal has the code, and no cause', async () => {
    const { names, at, requested } = await openWeb()
    const { default: nodeFetch } = await importPackage('node-fetch')
    const options = { agent: names.agentFor, headers: { 'user-agent': names.userAgent } }
    const error = await nodeFetch(at('/private'), options).catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'FetchError', code: 'ERR_POLITELY_DISALLOWED' })
    expect(error.message).toContain('line 2 of robots.txt')
    expect(error.cause).toBeUndefined()
    expect(error.verdict).toBeUndefined()
    expect(requested()).toEqual(['/robots.txt'])
  })

  test('node-fetch cannot fetch robots.txt', async () => {
    const { at, requested } = await openWeb()
    const { default: nodeFetch } = await importPackage('node-fetch')
    await using fetch = politely(nodeFetch, { userAgent: 'RecipeBot/1.0', retries: 0 })
    await expect(fetch(at('/open') as never)).rejects.toThrow('unusable-transport')
    expect(requested()).toEqual(['/robots.txt'])
  })

  test('ofetch without `retry: false` requests a redirect to a disallowed URL twice', async () => {
    const { names, at, requested } = await openWeb()
    const { createFetch } = await importSource("export { createFetch } from 'ofetch'")
    await expect(createFetch({ fetch: names.fetch })(at('/hop'))).rejects.toThrow('disallowed')
    expect(requested()).toEqual(['/robots.txt', '/hop', '/hop'])
  })

  test('ofetch passes its own options to fetch, which leads to no warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warn.mockRestore())
    const { names, at } = await openWeb()
    const { createFetch } = await importSource("export { createFetch } from 'ofetch'")
    const ofetch = createFetch({ fetch: names.fetch, defaults: { retry: false } })
    for (const options of [{}, { retry: 2, timeout: 60_000, retryDelay: 5 }]) await ofetch(at('/open'), options)
    expect(warn).not.toHaveBeenCalled()
  })

  test('superagent.agent is not checked', async () => {
    const { names, at, requested } = await openWeb()
    const { default: superagent } = await importPackage('superagent')
    await superagent.agent(names.httpAgent).get(at('/private'))
    expect(requested()).toEqual(['/private'])
  })

  test('superagent with http2 is not checked', async () => {
    const { names } = await openWeb()
    const { server, origin } = await openHttp2()
    const { default: superagent } = await importPackage('superagent')
    const [[, headers]] = await Promise.all([
      once(server, 'stream'),
      superagent.get(`${origin}/private`).agent(names.httpAgent).http2(),
    ])
    expect(headers[':path']).toBe('/private')
  })

  test('superagent: a redirect from http to https fails', async () => {
    const { names, at } = await openWeb()
    const { default: superagent } = await importPackage('superagent')
    const request = superagent.get(at('/to-https')).agent(names.httpAgent)
    await expect(request).rejects.toMatchObject({ code: 'ERR_INVALID_PROTOCOL' })
  })

  test('the timeouts of superagent and needle include the wait, and the request leaves the queue', async () => {
    const { names, at, gate, requested } = await openWeb()
    const { default: superagent } = await importPackage('superagent')
    const { default: needle } = await importPackage('needle')
    const permit = await gate.enter(at('/first'))
    const timeouts = [
      superagent.get(at('/open')).agent(names.httpAgent).timeout({ response: 50 }),
      needle('get', at('/open'), { agent: names.httpAgent, user_agent: names.userAgent, open_timeout: 50 }),
    ]
    const results = await Promise.allSettled(timeouts)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(gate.counters.abandoned).toBe(2)
    permit.release()
    expect(requested()).toEqual(['/robots.txt'])
  })

  test('which timeouts count the wait, and which do not', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warn.mockRestore())
    const { names, at, gate } = await openWeb()
    const ky = (await importPackage('ky')).default
    const got = (await importPackage('got')).default
    const axios = (await importPackage('axios')).default
    const { createFetch } = await importSource("export { createFetch } from 'ofetch'")
    const { dispatcher, httpAgent, userAgent } = names
    const headers = { 'user-agent': userAgent }
    const fetch = politely(globalThis.fetch, { gate, callerTimeouts: 'from-sending' })
    const ofetch = createFetch({ fetch, defaults: { retry: false } })
    const ofGot = { agent: { http: httpAgent }, headers, retry: { limit: 0 } }
    const url = at('/open')
    const timeout = 1_500
    const signal = AbortSignal.timeout(timeout)
    const permit = await gate.enter(at('/first'))
    const calls: Record<string, Promise<unknown>> = {
      'fetch, signal': fetch(url, { signal }).then((response) => response.text()),
      'ky, signal': ky(url, { fetch, signal, timeout: false }).text(),
      'ky, timeout': ky(url, { fetch, timeout, retry: 0 }).text(),
      'ofetch, timeout': ofetch(url, { timeout }),
      'axios with fetch, signal': axios.get(url, { adapter: 'fetch', env: { fetch }, headers, signal }),
      'axios with fetch, timeout': axios.get(url, { adapter: 'fetch', env: { fetch }, headers, timeout }),
      'axios with node:http, timeout': axios.get(url, { adapter: 'http', httpAgent, headers, timeout }),
      'got, timeout.request': got(url, { ...ofGot, timeout: { request: timeout } }),
      'got, timeout.response': got(url, { ...ofGot, timeout: { response: timeout } }),
      'undici, signal': request(url, { dispatcher, signal }).then(({ body }) => body.text()),
      'undici, headersTimeout': request(url, { dispatcher, headersTimeout: timeout }).then(({ body }) => body.text()),
    }
    const results = Promise.allSettled(Object.values(calls))
    await once(signal, 'abort')
    await vi.waitUntil(() => gate.counters.abandoned === 5)
    permit.release()
    const lost = (await results).flatMap(({ status }, i) => (status === 'rejected' ? Object.keys(calls)[i] : []))
    expect(lost).toEqual([
      'ky, timeout',
      'axios with fetch, signal',
      'axios with fetch, timeout',
      'got, timeout.request',
      'undici, signal',
    ])
  })

  test('needle with follow_max: each hop is checked', async () => {
    const { names, at, requested } = await openWeb()
    const { default: needle } = await importPackage('needle')
    const request = needle('get', at('/hop'), { agent: names.httpAgent, user_agent: names.userAgent, follow_max: 5 })
    await expect(request).rejects.toMatchObject({ verdict: { url: at('/private'), rule: { line: 2 } } })
    expect(requested()).toEqual(['/robots.txt', '/hop'])
  })

  test('needle with follow_max and any agent: a redirect from http to https ends the process', async () => {
    const { at } = await openWeb()
    const printed = await runSource(`
      import { Agent } from 'node:http'
      import needle from 'needle'
      await needle('get', '${at('/to-https')}', { agent: new Agent(), follow_max: 5 }).catch(() => undefined)
      console.log('caught')`)
    expect(printed).toContain('ERR_INVALID_PROTOCOL')
    expect(printed).not.toContain('caught')
  })

  test('fromURL of cheerio ignores a dispatcher and the global dispatcher', async () => {
    const { names, at, requested } = await openWeb()
    const { fromURL } = await importSource("export { fromURL } from 'cheerio'")
    const before = getGlobalDispatcher()
    setGlobalDispatcher(names.dispatcher)
    onTestFinished(() => setGlobalDispatcher(before))
    await fromURL(at('/private'), { requestOptions: { method: 'GET', dispatcher: names.dispatcher } })
    expect(requested()).toEqual(['/private'])
  })

  test('after a response with status 404 and a long body, parseURL of rss-parser keeps its slot', async () => {
    const { sites, names, at, gate } = await openWeb()
    sites.respond(`${HOME}/gone`, { status: 404, body: 'x'.repeat(1e6) })
    const { default: Parser } = await importPackage('rss-parser')
    const parser = new Parser(rssOptions(names))
    await expect(parser.parseURL(at('/gone'))).rejects.toThrow('Status code 404')
    const next = gate.enter(at('/open'), { maxWaitMs: 100 })
    await expect(next).rejects.toMatchObject({ code: 'ERR_POLITELY_WAIT' })
    expect(gate.gauges.underWay).toBe(1)
  })

  test('parseURL of rss-parser sends a request later that timed out in the queue', async () => {
    const { names, at, gate, sites, requested } = await openWeb()
    const { default: Parser } = await importPackage('rss-parser')
    const permit = await gate.enter(at('/first'))
    const parser = new Parser({ ...rssOptions(names), timeout: 50 })
    await expect(parser.parseURL(at('/open'))).rejects.toThrow('timed out')
    permit.release()
    await sites.requested(2)
    expect(requested()).toEqual(['/robots.txt', '/open'])
  })

  test('jsdom: what a page loads is checked, except by a synchronous XMLHttpRequest', async () => {
    const { sites, at, requested } = await openWeb()
    const script = `
      const load = (method, path, isAsync) => {
        const request = new XMLHttpRequest()
        request.open(method, path, isAsync)
        try { request.send() } catch {}
      }
      load('GET', '/private/asynchronous', true)
      load('GET', '/private/synchronous', false)
      new WebSocket(location.origin.replace('http', 'ws') + '/private/socket')`
    const body = `<link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="/private/style.css">
      <script src="/private/script.js"></script><iframe src="/private/frame"></iframe><script>${script}</script>`
    sites.respond(`${HOME}/loads`, { status: 200, headers: { 'content-type': 'text/html' }, body })
    // A process of its own, because a synchronous request would block the site of this process.
    const gate = new URL('../node_modules/@politely/gate/dist/', import.meta.url)
    const printed = await runSource(
      `import { JSDOM, VirtualConsole } from 'jsdom'
      import { resolveGate } from '${new URL('index.js', gate)}'
      import { politeAgent } from '${new URL('undici/index.js', gate)}'
      const { gate, close } = resolveGate({ userAgent: 'RecipeBot/1.0', minDelayMs: 0, retries: 0 })
      const virtualConsole = new VirtualConsole().on('jsdomError', ({ cause }) => console.log(cause?.verdict?.url))
      const resources = { dispatcher: politeAgent({ gate }), userAgent: gate.robots.userAgent }
      const dom = await JSDOM.fromURL('${at('/loads')}', { resources, runScripts: 'dangerously', virtualConsole })
      while (dom.window.document.readyState !== 'complete' || (gate.counters.refusals.rule ?? 0) < 5)
        await new Promise((resolve) => setTimeout(resolve, 10))
      console.log('refused:', gate.counters.refusals.rule)
      dom.window.close()
      await close()
      process.exit()`,
      JSDOM,
    )
    expect(printed).toContain('refused: 5')
    expect(printed).toContain(at('/private/script.js'))
    expect(requested().toSorted()).toEqual(['/loads', '/private/synchronous', '/robots.txt', '/style.css'])
  })
})

const rssOptions = ({ httpAgent, userAgent }: Names) => ({
  requestOptions: { agent: httpAgent },
  headers: { 'User-Agent': userAgent },
})

async function openHttp2(): Promise<{ readonly server: Http2Server; readonly origin: string }> {
  const server = createHttp2Server((_, response) => response.end('a page'))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, origin: `http://localhost:${(server.address() as AddressInfo).port}` }
}
