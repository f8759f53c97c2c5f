// The flags of the command. `politely mcp` of the package `politely` has the same.
import { ALLOW_ADDRESS, type Flag, MIN_DELAY } from '@politely/core/flags'

export const MCP_FLAGS: readonly Flag[] = [
  {
    name: 'user-agent',
    value: 'NAME',
    text: 'your User-Agent, such as "YourMCP/1.0 (+https://your.site/mcp)"; sites see YourMCP-Autonomous or YourMCP-User',
  },
  MIN_DELAY,
  { name: 'timeout', value: 'SECONDS', text: 'time limit for one page, including its wait', byDefault: '50' },
  ALLOW_ADDRESS,
]
