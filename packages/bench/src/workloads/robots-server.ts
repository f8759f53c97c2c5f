// A server for workloads that fetch.
import { Child } from './child.ts'

/** Runs a server on every loopback address for as long as the work takes. @param files How many different files it has. */
export async function withRobotsServer<T>(files: number, work: (port: number) => Promise<T>): Promise<T> {
  const server = new Child(new URL('./robots-server-child.ts', import.meta.url), [files])
  try {
    return await work(await server.said())
  } finally {
    server.end()
  }
}
