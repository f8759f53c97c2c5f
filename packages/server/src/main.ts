#!/usr/bin/env node
// The command `politely-server`. `politely serve` is the same.
import { runCommand } from './command.ts'

process.exitCode = await runCommand(process.argv.slice(2))
