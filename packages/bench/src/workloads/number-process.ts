// A child process of a workload that communicates by numbers.
import { type ChildProcess, fork } from 'node:child_process'
import { basename } from 'node:path'

export class NumberProcess {
  readonly #name: string
  readonly #process: ChildProcess

  constructor(script: URL, args: readonly (string | number)[]) {
    this.#name = basename(script.pathname)
    this.#process = fork(script, args.map(String))
  }

  /** Returns the next number that the process sends. */
  async nextNumber(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const onExit = (code: number | null) => reject(new Error(`${this.#name} exited with ${code}`))
    this.#process.once('message', resolve).once('error', reject).once('exit', onExit)
    try {
      return await promise
    } finally {
      this.#process.off('message', resolve).off('error', reject).off('exit', onExit)
    }
  }

  /** Sends a number and returns the process's reply. */
  request(value: number): Promise<number> {
    this.#process.send(value)
    return this.nextNumber()
  }

  kill(): void {
    this.#process.kill()
  }
}
