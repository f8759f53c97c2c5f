// The command itself, as a process of its own: what a shell would start and see.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { explain } from '../src/failure.ts'
import { createProgram } from '../src/program.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
if (!existsSync(MAIN)) throw new Error(`${MAIN} is not there: build before testing (npm test does)`)

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface How {
  readonly stdin?: string | Uint8Array
  readonly env?: NodeJS.ProcessEnv
  /** Options of Node. */
  readonly node?: readonly string[]
}

/** Starts it and leaves its streams to the test. */
export function start(args: readonly string[], { env, node = [] }: How = {}): ChildProcessWithoutNullStreams {
  const { FORCE_COLOR, NO_COLOR, POLITELY_DEBUG, ...rest } = process.env
  const child = spawn(process.execPath, [...node, MAIN, ...args], { env: { ...rest, ...env } })
  child.stdin.on('error', () => undefined) // it may end before it has read everything
  return child
}

/** Does what main.ts does with the arguments in this process, which is quicker. For what needs no stdin. */
export async function politelyHere(args: readonly string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text
      return true
    }),
  )
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'POLITELY_DEBUG']) vi.stubEnv(name, undefined)
  const { exitCode } = process
  process.exitCode = 0
  try {
    await createProgram().parseAsync([...args], { from: 'user' })
    return { code: Number(process.exitCode), ...written }
  } catch (error) {
    const { exitCode: code, text } = explain(error)
    return { code, ...written, stderr: written.stderr + text }
  } finally {
    process.exitCode = exitCode
    vi.unstubAllEnvs()
    for (const spy of spies) spy.mockRestore()
  }
}

/** Runs it to its end. */
export async function politely(args: readonly string[], how: How = {}): Promise<Ended> {
  const child = start(args, how)
  child.stdin.end(how.stdin ?? '')
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), codeOf(child)])
  return { code, stdout, stderr }
}

export function codeOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => child.on('close', resolve))
}

/** Writes a line to its stdin again and again, until nobody reads it. */
export function feed(child: ChildProcessWithoutNullStreams, line: string): void {
  child.stdin.write(line.repeat(1000), (error) => error ?? feed(child, line))
}

/** JSON, one value a line. */
export function jsonLines(stdout: string): readonly Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
