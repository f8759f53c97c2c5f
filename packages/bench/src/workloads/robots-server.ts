// A server for workloads that fetch.
import { fork } from 'node:child_process'

/** Runs a server on every loopback address for as long as the work takes. @param files How many different files it has. */
export async function withRobotsServer<T>(files: number, work: (port: number) => Promise<T>): Promise<T> {
  const child = fork(new URL('./robots-server-child.ts', import.meta.url), [String(files)])
  try {
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', (message: number) => resolve(message))
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
    return await work(port)
  } finally {
    child.kill()
  }
}
