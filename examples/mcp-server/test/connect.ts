// MCP clients for the tests: of a server in this process, and of one that is started as MCP clients start it.
import { join } from 'node:path'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createFetchServer } from '../fetch-server.ts'
import type { Readers } from '../readers.ts'

const INFO = { name: 'test', version: '1.0.0' }

/** A client of a server in this process. */
export async function connectHere(readers: Readers): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await createFetchServer(readers).connect(theirs)
  const client = new Client(INFO)
  await client.connect(ours)
  return client
}

/** The handshake that most clients know, and the revision of MCP that has none. */
type Revision = '2025-11-25' | '2026-07-28'

/** A client of a process of its own. */
export async function connectStdio(args: readonly string[], revision: Revision = '2025-11-25'): Promise<StdioServer> {
  const mode = revision === '2025-11-25' ? 'legacy' : { pin: revision }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../main.ts'), ...args],
    stderr: 'pipe',
  })
  const server: StdioServer = { client: new Client(INFO, { versionNegotiation: { mode } }), transport, said: '' }
  transport.stderr?.on('data', (chunk: Buffer) => {
    server.said += chunk
  })
  await server.client.connect(transport)
  return server
}

export interface StdioServer {
  readonly client: Client
  readonly transport: StdioClientTransport
  /** What it has written to standard error. */
  said: string
}
