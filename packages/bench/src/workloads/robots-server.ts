// Starts the server for workloads that fetch robots.txt.
import { NumberProcess } from './number-process.ts'

/**
 * Runs a server on every loopback address during `work`. @param files The number of different
 * files.
 */
export async function withRobotsServer<T>(files: number, work: (port: number) => Promise<T>): Promise<T> {
  const server = new NumberProcess(new URL('./robots-server-child.ts', import.meta.url), [files])
  try {
    return await work(await server.nextNumber())
  } finally {
    server.kill()
  }
}
