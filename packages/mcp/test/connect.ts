// Connects MCP clients to a server in this process, or to one in a child process.
import { join } from 'node:path'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createFetchServer } from '../src/fetch-server.ts'
import type { Readers } from '../src/readers.ts'

const INFO = { name: 'test', version: '1.0.0' }

/** Connects a client to a server in this process. */
export async function connectInProcess(readers: Readers): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await createFetchServer(readers).connect(theirs)
  const client = new Client(INFO)
  await client.connect(ours)
  return client
}

/** Revisions of MCP: with a handshake, which most clients use, and without one. */
type Revision = '2025-11-25' | '2026-07-28'

/** Starts the server as an MCP client does, and connects to it over stdio. */
export async function connectStdio(args: readonly string[], revision: Revision = '2025-11-25'): Promise<StdioServer> {
  const mode = revision === '2025-11-25' ? 'legacy' : { pin: revision }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../src/main.ts'), ...args],
    stderr: 'pipe',
  })
  const server: StdioServer = { client: new Client(INFO, { versionNegotiation: { mode } }), transport, stderr: '' }
  transport.stderr?.on('data', (chunk: Buffer) => {
    server.stderr += chunk
  })
  await server.client.connect(transport)
  return server
}

export interface StdioServer {
  readonly client: Client
  readonly transport: StdioClientTransport
  /** What the server has written to standard error. */
  stderr: string
}
