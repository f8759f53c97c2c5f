// What `outcomeOf` says about the real errors and responses of several clients.
import { get } from 'node:http'
import { outcomeOf } from '@politely/core'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { interceptors, request, Agent as UndiciAgent, fetch as undiciFetch } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'

type Send = (url: string, signal: AbortSignal | undefined) => Promise<unknown>

const throwing = new UndiciAgent().compose(interceptors.responseError())

const clients: Readonly<Record<string, Send>> = {
  fetch: (url, signal) => fetch(url, { ...(signal && { signal }), redirect: 'manual' }),
  "undici's fetch": (url, signal) => undiciFetch(url, { ...(signal && { signal }), redirect: 'manual' }),
  "undici's request": (url, signal) => request(url, { signal: signal ?? null }),
  "undici's request, which throws": (url, signal) => request(url, { signal: signal ?? null, dispatcher: throwing }),
  axios: (url, signal) => axios.get(url, { adapter: 'http', maxRedirects: 0, ...(signal && { signal }) }),
  got: (url, signal) => got(url, { retry: { limit: 0 }, followRedirect: false, ...(signal && { signal }) }),
  ky: (url, signal) => ky(url, { retry: 0, redirect: 'manual', ...(signal && { signal }) }),
  'node:http': (url, signal) =>
    new Promise((resolve, reject) => {
      if (url.startsWith('https:')) return resolve(fetch(url))
      get(url, { ...(signal && { signal }) }, (response) => resolve(response.resume())).on('error', reject)
    }),
}

async function outcomeWith(send: Send, url: string, signal?: AbortSignal): Promise<string | undefined> {
  const found = await send(url, signal).then(outcomeOf, outcomeOf)
  return found && `${found.kind}: ${found.because}`
}

describe.each(Object.entries(clients))('the outcome with %s', (_, send) => {
  test.each([
    [200, {}, 'served: status'],
    [301, { location: '/login?next=/' }, 'login: login-redirect'],
    [403, { 'cf-mitigated': 'challenge' }, 'challenge: challenge-header'],
    [404, {}, 'not-found: status'],
    [503, { 'retry-after': '120' }, 'server-error: status'],
  ])('of %i with %j is %s', async (status, headers, expected) => {
    const sites = await startSites()
    onTestFinished(() => sites.close())
    sites.respond('http://127.0.0.1:PORT/', { status, headers: headers as Record<string, string> })
    expect(await outcomeWith(send, sites.withPort('http://127.0.0.1:PORT/'))).toBe(expected)
  })

  test('of a refused connection', async () => {
    const { port, close } = await holdRefusingPort()
    onTestFinished(close)
    expect(await outcomeWith(send, `http://127.0.0.1:${port}/`)).toBe('connection: refused')
  })

  test('of a connection that breaks, of a silent site, and of an abort', async () => {
    const sites = await startSites()
    onTestFinished(() => sites.close())
    sites.respond('http://127.0.0.1:PORT/reset', (socket) => socket.destroy())
    sites.respond(
      'http://127.0.0.1:PORT/silent',
      () => undefined,
      () => undefined,
    )
    sites.respond('http://127.0.0.1:PORT/garbage', (socket) => socket.end('no HTTP\r\n\r\n'))
    const at = (path: string) => sites.withPort(`http://127.0.0.1:PORT${path}`)
    expect(await outcomeWith(send, at('/reset'))).toBe('connection: reset')
    expect(await outcomeWith(send, at('/garbage'))).toMatch(/^connection: (?:malformed|network)$/)
    const aborting = new AbortController()
    const aborted = outcomeWith(send, at('/silent'), aborting.signal)
    await expect.poll(() => sites.requests.some(({ url }) => url.endsWith('/silent'))).toBe(true)
    aborting.abort()
    expect(await aborted).toBeUndefined()
  })

  test('of an invalid certificate', async () => {
    const sites = await startSites({ certificate: selfSigned('127.0.0.1') })
    onTestFinished(() => sites.close())
    expect(await outcomeWith(send, sites.withPort('https://127.0.0.1:PORT/'))).toBe('connection: tls')
  })
})

test.each(['fetch', "undici's fetch", "undici's request", 'ky', 'node:http'])(
  'a time limit of the caller is a connection with %s',
  async (name) => {
    const sites = await startSites()
    onTestFinished(() => sites.close())
    sites.respond('http://127.0.0.1:PORT/', () => undefined)
    const send = clients[name] as Send
    const url = sites.withPort('http://127.0.0.1:PORT/')
    expect(await outcomeWith(send, url, AbortSignal.timeout(50))).toBe('connection: timeout')
  },
)

test('a time limit of got and of axios is a connection', async () => {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  sites.respond(
    'http://127.0.0.1:PORT/',
    () => undefined,
    () => undefined,
  )
  const url = sites.withPort('http://127.0.0.1:PORT/')
  const byGot = await got(url, { retry: { limit: 0 }, timeout: { request: 50 } }).catch(outcomeOf)
  expect(byGot).toEqual({ kind: 'connection', because: 'timeout' })
  const byAxios = await axios.get(url, { adapter: 'http', timeout: 50 }).catch(outcomeOf)
  expect(byAxios).toMatchObject({ kind: 'connection' })
})
