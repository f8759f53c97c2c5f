#!/usr/bin/env node
// The command `politely-server`. `politely serve` is the same.

await import('@politely/core/node-version').then(
  async () => {
    const { runCommand } = await import('./command.ts')
    process.exitCode = await runCommand(process.argv.slice(2))
  },
  ({ message }: Error) => {
    process.exitCode = 70
    process.stderr.write(`${message}\n`)
  },
)
