// A process that writes to a file until it ends or is killed, and prints what it has written.
import { type ChildProcess, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

export interface Writer {
  readonly child: ChildProcess
  /** What it has printed so far. */
  output(): string
  /** Resolves with everything it printed and its exit status. */
  readonly ended: Promise<{ stdout: string; stderr: string; status: number | null }>
}

export interface WriterOptions {
  /** Called after each output. */
  readonly onOutput?: (() => void) | undefined
  /** A command of the shell before the program starts, such as `ulimit -f 4096`. */
  readonly limit?: string | undefined
}

/** Runs a module of TypeScript in a process that is killed after the test at the latest. */
export function startWriter(
  path: string,
  args: readonly (string | number)[],
  { onOutput, limit }: WriterOptions = {},
): Writer {
  const words = ['--disable-warning=ExperimentalWarning', path, ...args.map(String)]
  const child =
    limit === undefined
      ? spawn(process.execPath, words)
      : spawn('/bin/sh', ['-c', `${limit} && exec "$@"`, 'sh', process.execPath, ...words])
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
    onOutput?.()
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<{ stdout: string; stderr: string; status: number | null }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ stdout, stderr, status }))
  })
  return { child, output: () => stdout, ended }
}
