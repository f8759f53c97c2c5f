// Runs the command line program, in a child process or in this one.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { usesBuilds } from '@politely/testkit/scope'
import { vi } from 'vitest'
import { describeError } from '../src/describe-error.ts'
import { runProgram } from '../src/program.ts'

/** What a process runs: the bundle that users get, or the sources. */
export const MAIN: string = fileURLToPath(new URL(usesBuilds ? '../bundle/main.js' : '../src/main.ts', import.meta.url))

export interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array
  readonly env?: NodeJS.ProcessEnv
  /** Command-line options for Node. */
  readonly node?: readonly string[]
  /** The program. Default: `MAIN`. */
  readonly main?: string
}

/** Starts the program in a child process. The test reads and writes its streams. */
export function startCli(
  args: readonly string[],
  { env, node = [], main = MAIN }: RunOptions = {},
): ChildProcessWithoutNullStreams {
  const { FORCE_COLOR, NO_COLOR, POLITELY_DEBUG, ...rest } = process.env
  const child = spawn(process.execPath, [...node, main, ...args], { env: { ...rest, ...env } })
  child.stdin.on('error', () => undefined) // the program may exit before it has read all of stdin
  return child
}

/** Does what main.ts does, in this process, which takes a tenth of the time. */
export async function runInThisProcess(
  args: readonly string[],
  stdin = '',
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const written = { stdout: '', stderr: '' }
  const input = vi.spyOn(process, 'stdin', 'get')
  input.mockReturnValue(Readable.from(chunksOf(stdin)) as typeof process.stdin)
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    }),
  )
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'POLITELY_DEBUG']) vi.stubEnv(name, env[name])
  const { exitCode } = process
  process.exitCode = 0
  try {
    const code = await runProgram(args)
    return { code, ...written }
  } catch (error) {
    const { exitCode: code, text } = describeError(error)
    return { code, ...written, stderr: written.stderr + text }
  } finally {
    process.exitCode = exitCode
    vi.unstubAllEnvs()
    for (const spy of [input, ...spies]) spy.mockRestore()
  }
}

/** Returns UTF-8 in chunks of 64 KiB, as a pipe does. */
function* chunksOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

/** Runs the program in a child process until it exits. */
export async function runCli(args: readonly string[], how: RunOptions = {}): Promise<Result> {
  const child = startCli(args, how)
  child.stdin.end(how.stdin ?? '')
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCodeOf(child)])
  return { code, stdout, stderr }
}

export function exitCodeOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => child.on('close', resolve))
}

/** Writes a line to stdin again and again, until the program closes it. */
export function writeForever(child: ChildProcessWithoutNullStreams, line: string): void {
  child.stdin.write(line.repeat(1000), (error) => error ?? writeForever(child, line))
}

/** Parses one JSON value on each line. */
export function parseJsonLines(stdout: string): readonly Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
