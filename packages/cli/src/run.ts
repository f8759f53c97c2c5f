// Runs the command line of this process.
import { enableCompileCache } from 'node:module'
import { EXITS, writeError } from './exit-code.ts'

let hasFailed = false

export async function run(): Promise<void> {
  enableCompileCache()
  // EPIPE: the reader closed the pipe (`| head`). That ends the program without a message. The exit
  // code is not 0, because verdicts are missing. Another error, such as a full disk, has a message.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode || EXITS.outputClosed.code)
      void fail(writeError('the output', error)).finally(() => process.exit())
    })
  }
  try {
    const { runProgram } = await import('./program.ts')
    process.exitCode = await runProgram(process.argv.slice(2))
  } catch (error) {
    await fail(error)
  }
}

async function fail(error: unknown): Promise<void> {
  if (hasFailed) return // the error of a stream also rejects the write that waits for it
  hasFailed = true
  const { describeError } = await import('./describe-error.ts')
  const { exitCode, text } = describeError(error)
  process.exitCode = exitCode
  process.stderr.write(text)
  // Pending requests and an open stdin would keep the process alive.
  if (exitCode === EXITS.interrupted.code) process.exit()
}
