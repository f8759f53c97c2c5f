// A task of Crawlee's pool: it takes a request from the queue and handles it. An AsyncLocalStorage
// tells code that runs in a task which task it belongs to.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { CircuitOpenError, RobotsDisallowedError, WaitTooLongError } from '@politely/gate'
import type { CrawleeInternals } from './crawlee-internals.ts'
import type { TrackedRequest } from './origin-queues.ts'

/** An error by which the gate refuses a request that may be made later, or that robots.txt disallows. */
export type GateRefusal = RobotsDisallowedError | CircuitOpenError | WaitTooLongError

export class PoolTask {
  /** The request that the task handles, once the task has taken it. */
  request: Request | undefined
  /** The same request, while it is tracked. */
  tracked: TrackedRequest | undefined
  /** Why the gate has refused the navigation of the request, or a redirect of it. */
  refusal: GateRefusal | undefined
  /** Why the task has failed. */
  error: Error | undefined
  /**
   * Whether the task was aborted while it waited at the gate, or before it reached the gate. Its
   * request then did not fail by itself.
   */
  isAbortedAtGate = false
  /** Resolved when the task has ended, however it ended. */
  readonly ended: PromiseWithResolvers<void> = Promise.withResolvers()
  readonly #controller = new AbortController()
  /** Aborted when the crawl is torn down. Ends every wait of this task. */
  readonly signal: AbortSignal = this.#controller.signal
  #waits = 0

  /** Runs `wait`, which waits at the gate. */
  async runAtGate<T>(wait: () => Promise<T>): Promise<T> {
    this.#waits++
    if (this.signal.aborted) this.isAbortedAtGate = true
    try {
      return await wait()
    } finally {
      this.#waits--
    }
  }

  abort(reason: unknown): void {
    if (this.#waits > 0) this.isAbortedAtGate = true
    this.#controller.abort(reason)
  }
}

interface TaskContext {
  readonly task: PoolTask | undefined
  readonly isAddingRequests: boolean
}

const taskContext = new AsyncLocalStorage<TaskContext>()

/** Returns the task that the caller runs in. Undefined outside of the pool. */
export function currentTask(): PoolTask | undefined {
  return taskContext.getStore()?.task
}

/** Runs the navigation of the current task's request, and remembers it if the gate refuses it. */
export async function navigating<T>(navigate: () => Promise<T>): Promise<T> {
  try {
    return await navigate()
  } catch (error) {
    const task = currentTask()
    if (task !== undefined && isGateRefusal(error)) task.refusal = error
    throw error
  }
}

function isGateRefusal(error: unknown): error is GateRefusal {
  return [RobotsDisallowedError, CircuitOpenError, WaitTooLongError].some((kind) => error instanceof kind)
}

/** Returns whether the caller runs inside `whileAddingRequests`. */
export function isAddingRequests(): boolean {
  return taskContext.getStore()?.isAddingRequests ?? false
}

export function whileAddingRequests<T>(work: () => T): T {
  return taskContext.run({ task: currentTask(), isAddingRequests: true }, work)
}

/** The running tasks of one crawler. */
export class PoolTasks {
  readonly #running = new Map<PoolTask, Promise<unknown>>()

  /** @param onEnd Called when a task has ended. The task's promise settles after it. */
  constructor(internals: CrawleeInternals, onEnd: (task: PoolTask) => Promise<void>) {
    const { runTaskFunction: run, ...others } = internals.autoscaledPoolOptions
    if (run === undefined) return
    const runTaskFunction = async () => {
      const task = new PoolTask()
      const end = async () => {
        task.ended.resolve()
        await onEnd(task)
      }
      const work = taskContext.run({ task, isAddingRequests: false }, run).finally(end)
      this.#running.set(task, work)
      return work.finally(() => this.#running.delete(task))
    }
    // Each run of the crawler makes its pool from these options.
    internals.autoscaledPoolOptions = { ...others, runTaskFunction }
  }

  /** Aborts all tasks. Their waits at the gate reject with `reason`. */
  abortAll(reason: unknown): void {
    for (const task of this.#running.keys()) task.abort(reason)
  }

  /** Settles when all tasks that were aborted at the gate have ended. */
  async abortedAtGateEnded(): Promise<void> {
    const aborted = [...this.#running].filter(([task]) => task.isAbortedAtGate)
    await Promise.allSettled(aborted.map(([, work]) => work))
  }
}
