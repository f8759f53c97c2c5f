#!/usr/bin/env node
// The command `politely-mcp`. An MCP client starts it and talks to it over stdin and stdout.
import { runCommand } from './command.ts'

process.exitCode = await runCommand(process.argv.slice(2))
