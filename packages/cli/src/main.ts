#!/usr/bin/env node
// Runs what was typed. Nobody who types something wrong sees a stack: they see one line that says what to write.
import { explain, Interrupted } from './failure.ts'
import { createProgram } from './program.ts'

// Whoever read the output has gone (`| head`): nobody is left to answer, and nothing went wrong.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error)
    process.exit()
  })
}

try {
  await createProgram().parseAsync()
} catch (error) {
  fail(error)
  if (error instanceof Interrupted) process.exit() // what is still under way would keep the process alive
}

function fail(error: unknown): void {
  const { exitCode, text } = explain(error)
  process.exitCode = exitCode
  process.stderr.write(text)
}
