// The public API of `@politely/mcp`.

export type { McpServer } from '@modelcontextprotocol/server'
export { FetchTools } from './fetch-tools.ts'
export type { FetchToolsOptions } from './options.ts'
