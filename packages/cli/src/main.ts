#!/usr/bin/env node
// Entry point. A mistake on the command line prints one line that says what to write, never a
// stack. All imports are dynamic: an old Node cannot load the other modules, and says so first.

await import('@politely/core/node-version').then(
  async () => {
    const { run } = await import('./run.ts')
    await run()
  },
  ({ message }: Error) => {
    process.exitCode = 70 // EXITS.internal
    process.stderr.write(`${message}\n`)
  },
)
