// The command line of `politely mcp`.
import type { CommandSpec, Flag } from '../../command-line.ts'
import { ALLOW_ADDRESS, MIN_DELAY, USER_AGENT } from '../../flags.ts'

const TIMEOUT: Flag = {
  name: 'timeout',
  value: 'SECONDS',
  text: 'time limit for one page, including its wait',
  byDefault: '50',
}
const flags = [USER_AGENT, MIN_DELAY, TIMEOUT, ALLOW_ADDRESS]

export const mcpSpec: CommandSpec = {
  name: 'mcp',
  summary: 'serve a fetch tool that obeys robots.txt to MCP clients',
  description:
    'Runs the server of the package @politely/mcp, which npm install @politely/mcp installs. An MCP client starts it, and talks to it over stdin and stdout.',
  usage: '--user-agent NAME',
  flags,
  examples: [['mcp --user-agent YourMCP', 'Serves until the client disconnects.']],
  exits: { success: 'the client has disconnected' },
  noOperands: 'mcp takes no operands',
  endsItself: true,
  run: async (args) =>
    (await import('./mcp.ts')).mcp(
      flags.flatMap(({ name }) => (args.has(name) ? args.all(name).map((value) => `--${name}=${value}`) : [])),
    ),
}
