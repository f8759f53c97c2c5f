import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import { FetchTools } from '../src/index.ts'

async function connect(server: McpServer): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await server.connect(theirs)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(ours)
  return client
}

test('adds its tools and its prompt to a server, and servers share one robots.txt', async () => {
  const sites = await startSites()
  sites.respond('http://localhost:PORT/robots.txt', { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  const tools = new FetchTools({ userAgent: 'ExampleMCP/1.0', allowAddresses: ['127.0.0.0/8', '::1'] })
  const mine = new McpServer({ name: 'mine', version: '1.0.0' })
  tools.addTo(mine)
  const clients = await Promise.all([mine, tools.createServer()].map(connect))
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await sites.close()
  })
  for (const client of clients) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['fetch_url', 'may_fetch'])
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['fetch'])
    const url = sites.withPort('http://localhost:PORT/private')
    const { structuredContent } = await client.callTool({ name: 'may_fetch', arguments: { url } })
    expect(structuredContent).toMatchObject({ allowed: false })
  }
  expect(sites.requestedUrls).toEqual(['http://localhost:PORT/robots.txt'])
  await tools.close()
})

test.for([
  [undefined, 'options: is missing; expected an object such as { userAgent: "YourMCP/1.0 (+https://your.site/mcp)" }'],
  [{}, /^userAgent: /],
  [{ userAgent: '()' }, /^userAgent: "\(\)" contains no product token; begin it with a name such as ExampleMCP\/1\.0/],
  [
    { userAgent: 'ExampleMCP', timeout: 5 },
    /^timeout: is an unknown option; did you mean `timeoutMs`\? \(in milliseconds, such as 20_000\)$/,
  ],
  [{ userAgent: 'ExampleMCP', timeoutMs: 0 }, /^timeoutMs: 0 is out of range/],
] as const)('rejects the options %o', ([options, message]) => {
  expect(() => new FetchTools(options as never)).toThrow(message)
})
