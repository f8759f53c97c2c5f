// Crawls by pacers of this process, and by the worker processes of paced-worker.ts, which end with
// their test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { crawlKey, type PacerUnderTest } from './paced-worker.ts'

/** A process that runs `runPacedWorker`. */
export interface PacedWorker {
  readonly process: ChildProcess
  start(): void
  output(): string
  readonly ended: Promise<unknown>
}

/** Starts a worker process that ends with its test, and resolves when it is ready. */
export async function startPacedWorker(script: string, args: readonly string[]): Promise<PacedWorker> {
  const child = spawn(process.execPath, [script, ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close')
  while (!output.includes('ready')) {
    if (child.exitCode !== null) throw new Error(`the worker ended: ${output}`)
    await sleep(5)
  }
  return { process: child, start: () => void child.stdin.write('start\n'), output: () => output, ended }
}

/** Returns the starts that workers have printed, by key. */
export function startsOf(workers: readonly PacedWorker[]): ReadonlyMap<string, readonly number[]> {
  const all = workers.flatMap((worker) => Array.from(worker.output().matchAll(/^(\S+) ([\d.]+)$/gm)))
  const byKey = Map.groupBy(all, ([, key = '']) => key)
  return new Map(Array.from(byKey, ([key, matches]) => [key, matches.map(([, , at]) => Number(at))]))
}

/**
 * Crawls one key, `k`, with each pacer while `disturb` runs, and until three more requests have
 * started after that. Returns all starts. `disturb` can wait until so many requests more have
 * started.
 */
export async function crawlDuring(
  pacers: readonly PacerUnderTest[],
  delayMs: number,
  disturb: (startsMore: (count: number) => Promise<void>) => Promise<void>,
): Promise<readonly number[]> {
  const starts: number[] = []
  let isDone = false
  const onStart = (at: number) => starts.push(at)
  const crawling = Promise.all(pacers.map((pacer) => crawlKey(pacer, 'k', delayMs, onStart, () => isDone)))
  const startsMore = async (count: number) => {
    const wanted = starts.length + count
    while (starts.length < wanted) await sleep(5)
  }
  await disturb(startsMore)
  await startsMore(3)
  isDone = true
  await crawling
  return starts
}

/** Returns the gaps between starts, in their order. */
export function gapsOf(starts: readonly number[]): number[] {
  const sorted = starts.toSorted((a, b) => a - b)
  return sorted.slice(1).map((at, i) => at - (sorted[i] as number))
}
