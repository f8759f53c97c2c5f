// `--proxy` and `--allow-address`, with a real proxy on loopback. It answers for all hosts.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { expect, onTestFinished, test } from 'vitest'
import { runInThisProcess } from './run-cli.ts'

/** Starts a proxy and returns its URL. `requests` gets the URLs of the requests. */
async function startProxy(
  replies: Readonly<Record<string, string | number>>,
  requests: string[] = [],
): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    const reply = replies[url] ?? 404
    if (typeof reply === 'number') response.writeHead(reply).end()
    else if (reply.startsWith('http')) response.writeHead(301, { location: reply }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(reply)
  })
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const BOT = ['--user-agent', 'ExampleBot']
const RULES = 'User-agent: *\nDisallow: /private\n'
const SITE = 'http://www.politely-shop.com'

async function check(url: string, proxy: string, ...more: string[]) {
  const { code, stdout } = await runInThisProcess(['check', url, ...BOT, '--proxy', proxy, ...more])
  const row = (label: string) =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`  ${label}`))
      ?.slice(14)
  return { code, because: row('because'), advice: row('advice') }
}

test('requests for robots.txt, and for the page with explain --follow, go through the proxy', async () => {
  const requests: string[] = []
  const replies = { [`${SITE}/robots.txt`]: RULES, [`${SITE}/a`]: `${SITE}/private` }
  const proxy = await startProxy(replies, requests)
  expect(await check(`${SITE}/private`, proxy)).toMatchObject({ code: 1 })
  expect(requests).toEqual([`${SITE}/robots.txt`])
  const explained = await runInThisProcess(['explain', `${SITE}/a`, ...BOT, '--proxy', proxy, '--follow'])
  expect(explained.stdout).toContain(`  ✓ ${SITE}/a  301\n  ✗ ${SITE}/private  not requested\n`)
  expect(requests.slice(1)).toEqual([`${SITE}/robots.txt`, `${SITE}/a`])
})

test('the guard refuses a redirect to a private address, and says which flag allows it', async () => {
  const proxy = await startProxy({
    [`${SITE}/robots.txt`]: 'http://10.1.2.3/robots.txt',
    'http://10.1.2.3/robots.txt': RULES,
  })
  expect(await check(`${SITE}/private`, proxy)).toEqual({
    code: 3,
    because:
      'robots.txt is unreachable (blocked-address: 10.1.2.3 is not a public address; if this host is yours, write --allow-address 10.1.2.3)',
    advice: 'if the address is not yours, the site should repair its redirect or its DNS',
  })
  expect(await check(`${SITE}/private`, proxy, '--allow-address', '10.0.0.0/8')).toMatchObject({ code: 1 })
})

test('advises to check a proxy that refuses connections', async () => {
  const { port, close } = await holdRefusingPort()
  onTestFinished(close)
  const proxy = `http://user:secret@127.0.0.1:${port}`
  const { code, because, advice } = await check(`${SITE}/`, proxy, '--timeout', '0.3')
  expect({ code, because }).toEqual({ code: 3, because: expect.stringContaining('unreachable (refused: ') })
  expect(advice).toBe(`check that the proxy http://127.0.0.1:${port} runs, and that it lets this request through`)
})

test('advises to write the password of a proxy that asks for one', async () => {
  const proxy = await startProxy({ [`${SITE}/robots.txt`]: 407 })
  for (const url of [`${SITE}/`, 'https://www.politely-shop.com/'])
    expect(await check(url, proxy, '--timeout', '0.3')).toMatchObject({
      code: 3,
      advice: `write the user name and password for ${proxy} into --proxy, such as http://user:password@localhost:8080`,
    })
})
