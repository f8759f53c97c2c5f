// The command line of `politely mcp`.
import { MCP_FLAGS } from '@politely/mcp/flags'
import type { CommandSpec } from '../../command-line.ts'
import { runInstalled } from '../../installed-command.ts'

export const mcpSpec: CommandSpec = {
  name: 'mcp',
  summary: 'serve a fetch tool that obeys robots.txt to MCP clients',
  description:
    'Runs the server of the package @politely/mcp, which npm install @politely/mcp installs. An MCP client starts it, and talks to it over stdin and stdout.',
  usage: '--user-agent NAME',
  flags: MCP_FLAGS,
  examples: [['mcp --user-agent YourMCP', 'Serves until the client disconnects.']],
  exits: { success: 'the client has disconnected' },
  noOperands: 'mcp takes no operands',
  run: (args) => runInstalled('@politely/mcp', () => import('@politely/mcp/command'), args, MCP_FLAGS),
}
