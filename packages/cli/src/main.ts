#!/usr/bin/env node
// Entry point. A mistake on the command line prints one line that says what to write, never a
// stack.
import { describeError, Interrupted } from './errors.ts'
import { EXITS } from './exit-code.ts'
import { createProgram } from './program.ts'

// EPIPE: the reader closed the pipe (`| head`). That ends the program without a message. The exit
// code is not 0, because verdicts are missing.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error)
    process.exit(process.exitCode || EXITS.outputClosed.code)
  })
}

try {
  await createProgram().parseAsync()
} catch (error) {
  fail(error)
  if (error instanceof Interrupted) process.exit() // pending requests and an open stdin would keep the process alive
}

function fail(error: unknown): void {
  const { exitCode, text } = describeError(error)
  process.exitCode = exitCode
  process.stderr.write(text)
}
