// The command line of the server. Standard output belongs to the protocol; messages for people go to
// standard error. It reads its flags before it loads the server, so that a mistake is answered at
// once.

import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { OptionError } from '@politely/core'
import { flagHelp, HELP_FLAG, readFlags } from '@politely/core/flags'
import type { FetchTools } from './fetch-tools.ts'
import { MCP_FLAGS } from './flags.ts'
import type { FetchToolsOptions } from './options.ts'

const FLAGS = [...MCP_FLAGS, HELP_FLAG]
const HELP = `An MCP server that reads web pages and obeys robots.txt. An MCP client starts it and talks to it over stdin and stdout.

${flagHelp(FLAGS)}`

/** The longest time limit of a timer of Node. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Serves MCP over stdin and stdout until stdin closes.
 * @param args The command line, without `node` and the name of the script: `--user-agent NAME …`.
 * @param streams Default: the streams of this process.
 * @returns The exit code: 0, or 2 for a mistake on the command line, which is printed on stderr.
 */
export async function runCommand(
  args: readonly string[],
  {
    stdin,
    stdout,
    stderr,
  }: { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable } = process,
): Promise<number> {
  const say = (text: string) => void stderr.write(`politely-mcp: ${text}\n`)
  let tools: FetchTools
  try {
    const options = optionsOf(args)
    if (options === undefined) {
      stdout.write(`${HELP}\n`)
      return 0
    }
    const { FetchTools } = await import('./fetch-tools.ts')
    tools = new FetchTools(options)
  } catch (error) {
    const isUsage = error instanceof OptionError || (error instanceof TypeError && 'code' in error)
    if (!isUsage) throw error
    say(`${error.message}\nSee --help.`)
    return 2
  }
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const closed = once(stdin, 'close')
  const transport = new StdioServerTransport(stdin, stdout)
  serveStdio(() => tools.createServer(), { transport, onerror: ({ message }) => say(message) })
  await closed
  await tools.close() // the client has disconnected, so pending requests are useless
  return 0
}

/** Returns undefined for `--help`. */
function optionsOf(args: readonly string[]): FetchToolsOptions | undefined {
  const values = readFlags(FLAGS, args, parseArgs)
  if (values.has('help')) return undefined
  const userAgent = values.get('user-agent')
  if (userAgent === undefined)
    throw new OptionError('--user-agent', 'is missing; write one such as "YourMCP/1.0 (+https://your.site/mcp)"')
  return {
    userAgent,
    allowAddresses: values.all('allow-address'),
    minDelayMs: milliseconds('--min-delay', values.get('min-delay'), { min: 0 }),
    timeoutMs: milliseconds('--timeout', values.get('timeout'), { min: 1 }),
  }
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
