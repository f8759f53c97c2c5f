// An MCP server that reads web pages and obeys robots.txt. An MCP client starts it and talks to it
// over stdio. Standard output belongs to the protocol; messages for people go to standard error.
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { OptionError } from '@politely/core'
import { MAX_TIMEOUT_MS } from '@politely/fetcher/internal'
import { createFetchServer } from './fetch-server.ts'
import { createReaders, type Readers } from './readers.ts'

const DEFAULT_USER_AGENT = 'ExampleMCP/1.0 (+https://example.com/mcp)'
const HELP = `An MCP server that reads web pages and obeys robots.txt. It communicates over stdin and stdout.

  --user-agent <name>      your User-Agent; sites see <name>-Autonomous or <name>-User (default: ${DEFAULT_USER_AGENT})
  --allow-address <block>  a private address, or a block such as 10.0.0.0/8, that the server may connect to; may be repeated
  --min-delay <seconds>    the minimum delay between two requests to one site (default: 1)
  --timeout <seconds>      time limit for one page, including the wait before its request (default: 50)
  --help                   print this text`

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
  if (values['user-agent'] === undefined)
    console.error(`No --user-agent was given: sites see ${DEFAULT_USER_AGENT}, which does not identify you.`)
  return createReaders({
    userAgent: values['user-agent'] ?? DEFAULT_USER_AGENT,
    allowAddresses: values['allow-address'],
    minDelayMs: milliseconds('--min-delay', values['min-delay'], { min: 0 }),
    timeoutMs: milliseconds('--timeout', values.timeout, { min: 1 }),
  })
}

/** Converts seconds to milliseconds, from `min` to the longest delay of a timer. */
function milliseconds(option: string, seconds: string | undefined, { min }: { min: number }): number | undefined {
  if (seconds === undefined) return undefined
  const ms = Math.round(Number(seconds) * 1000)
  if (seconds.trim() === '' || !(ms >= min && ms <= MAX_TIMEOUT_MS)) {
    const range = `from ${min / 1000} to ${Math.floor(MAX_TIMEOUT_MS / 1000)}`
    throw new OptionError(
      option,
      `${JSON.stringify(seconds)} is invalid; expected a number of seconds ${range}, such as 2.5`,
    )
  }
  return ms
}

try {
  const readers = readersFromCommandLine()
  if (readers !== undefined) {
    serveStdio(() => createFetchServer(readers), { onerror: (error) => console.error(error.message) })
    // The client has disconnected, so pending requests are useless.
    process.stdin.once('close', () => void readers.close())
  }
} catch (error) {
  const isUsage = error instanceof OptionError || (error instanceof TypeError && 'code' in error)
  if (!isUsage) throw error
  console.error(`${error.message}\nSee --help.`)
  process.exitCode = 2
}
