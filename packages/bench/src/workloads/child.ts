// A part of a workload that is a process of its own and says numbers.
import { type ChildProcess, fork } from 'node:child_process'
import { basename } from 'node:path'

export class Child {
  readonly #name: string
  readonly #process: ChildProcess

  constructor(script: URL, args: readonly (string | number)[]) {
    this.#name = basename(script.pathname)
    this.#process = fork(script, args.map(String))
  }

  /** The next number that it says. */
  async said(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const gone = (code: number | null) => reject(new Error(`${this.#name} ended with ${code}`))
    this.#process.once('message', resolve).once('error', reject).once('exit', gone)
    try {
      return await promise
    } finally {
      this.#process.off('message', resolve).off('error', reject).off('exit', gone)
    }
  }

  /** What it says to this number. */
  answer(question: number): Promise<number> {
    this.#process.send(question)
    return this.said()
  }

  end(): void {
    this.#process.kill()
  }
}
