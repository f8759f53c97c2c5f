// An MCP server that reads pages, and keeps robots.txt: over stdio, for an MCP client to start. Standard output is the protocol's; what
// there is to say to people goes to standard error.
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { OptionError } from '@politely/core'
import { createFetchServer } from './fetch-server.ts'
import { createReaders, type Readers } from './readers.ts'

const NOBODY = 'ExampleMCP/1.0 (+https://example.com/mcp)'
const HELP = `An MCP server that reads web pages and keeps robots.txt. It speaks over stdin and stdout.

  --user-agent <name>      who you are; sites see <name>-Autonomous or <name>-User (default: ${NOBODY})
  --allow-address <block>  an address, or a block such as 10.0.0.0/8, that may be reached although it is not public; may be repeated
  --min-delay <seconds>    the least pause between two requests to one site (default: 1)
  --timeout <seconds>      for one page, the wait for its turn included (default: 50)
  --help                   this text`

function readersFromCommandLine(): Readers | undefined {
  const { values } = parseArgs({
    options: {
      'user-agent': { type: 'string' },
      'allow-address': { type: 'string', multiple: true },
      'min-delay': { type: 'string' },
      timeout: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(HELP)
    return undefined
  }
  if (values['user-agent'] === undefined) console.error(`No --user-agent: sites see ${NOBODY}, which is nobody.`)
  return createReaders({
    userAgent: values['user-agent'] ?? NOBODY,
    allowAddresses: values['allow-address'],
    minDelayMs: milliseconds('--min-delay', values['min-delay']),
    timeoutMs: milliseconds('--timeout', values.timeout),
  })
}

function milliseconds(option: string, seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  const ms = Math.round(Number(seconds) * 1000)
  if (seconds.trim() === '' || !Number.isFinite(ms) || ms < 0) {
    throw new OptionError(option, `${JSON.stringify(seconds)} does not do; write seconds, such as 2.5`)
  }
  return ms
}

try {
  const readers = readersFromCommandLine()
  if (readers !== undefined) {
    serveStdio(() => createFetchServer(readers), { onerror: (error) => console.error(error.message) })
    // The client is gone: what is under way is for nobody.
    process.stdin.once('close', () => void readers.close())
  }
} catch (error) {
  const isUsage = error instanceof OptionError || (error instanceof TypeError && 'code' in error)
  if (!isUsage) throw error
  console.error(`${error.message}\nSee --help.`)
  process.exitCode = 2
}
