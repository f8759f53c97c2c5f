import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { EnvHttpProxyAgent } from 'undici'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { isProxyExcluded } from '../src/network/proxy-variables.ts'

// No proxy listens there.
const { port, close } = await holdRefusingPort()
afterAll(close)

test.for([
  ['', 'http://a.test/', false],
  ['*', 'http://a.test/', true],
  ['x.test,a.test', 'http://a.test/', true],
  ['x.test a.test', 'http://www.a.test/', true],
  ['.a.test', 'http://a.test/', true],
  ['*.a.test', 'http://a.test/', false],
  ['*.a.test', 'http://www.a.test/', true],
  ['a.test', 'http://ba.test/', false],
  ['A.test', 'http://a.test./', true],
  ['a.test:81', 'http://a.test/', false],
  ['a.test:81', 'http://a.test:81/', true],
  ['a.test:443', 'https://a.test/', true],
  ['10.1.2.3', 'http://10.1.2.3/', true],
  ['[::1]:443', 'https://[::1]/', true],
  ['::1', 'http://[::1]:81/', true],
] as const)('NO_PROXY=%s excludes %s: %s, as in undici', async ([variable, url, isExcluded]) => {
  vi.stubEnv('no_proxy', variable)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(isProxyExcluded(url)).toBe(isExcluded)
  let isDirect = false
  const connect = (_: object, callback: (error: Error, socket: null) => void) => {
    isDirect = true
    callback(new Error('no connection'), null)
  }
  const proxy = `http://127.0.0.1:${port}`
  const agent = new EnvHttpProxyAgent({ httpProxy: proxy, httpsProxy: proxy, connect })
  await agent.request({ origin: new URL(url).origin, path: '/', method: 'GET' }).catch(() => undefined)
  await agent.destroy()
  expect(isDirect).toBe(isExcluded)
})
