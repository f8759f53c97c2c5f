// @module-tag nodes
// @module-tag process
// The server itself is tested in packages/mcp.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodeOf, MAIN, runInThisProcess, startCli } from './run-cli.ts'

test('serves MCP with the given flags until stdin ends', async () => {
  const child = startCli(['mcp', '--user-agent', 'ExampleMCP/1.0', '--timeout', '5'])
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const [answer] = await once(child.stdout, 'data')
  const serverInfo = { name: 'politely-fetch', version: expect.stringMatching(/^\d/) }
  expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { serverInfo } })
  child.stdin.end()
  expect(await exitCodeOf(child)).toBe(0)
})

test.for([
  [[], 'politely-mcp: --user-agent: is missing;'],
  [['--user-agent', 'ExampleMCP', '--timeout', '0'], 'politely-mcp: --timeout: "0" is invalid;'],
  [['--user-agent', 'ExampleMCP', '--allow-address', 'here'], 'politely-mcp: allowAddresses'],
  [['https://example.com'], 'politely: "https://example.com": mcp takes no operands;'],
] as const)('mcp %j is a mistake', async ([args, message]) => {
  const { code, stdout, stderr } = await runInThisProcess(['mcp', ...args])
  expect({ code, stdout, stderr: stderr.slice(0, message.length) }).toEqual({ code: 2, stdout: '', stderr: message })
})

test('says what to install if the package is missing', { tags: 'full' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(dirname(MAIN), join(folder, 'bundle'), { recursive: true })
  cpSync(join(dirname(MAIN), '../package.json'), join(folder, 'package.json'))
  const child = spawn(process.execPath, [join(folder, 'bundle/main.js'), 'mcp', '--user-agent', 'ExampleMCP'])
  const stderr = text(child.stderr)
  expect(await exitCodeOf(child)).toBe(2)
  expect(await stderr).toBe(
    'politely: @politely/mcp is not installed next to politely; write npm install @politely/mcp (with --global if politely is global), or start npx @politely/mcp\n',
  )
})
