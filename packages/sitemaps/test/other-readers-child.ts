// Reads the cases that the parent process sends, with one reader. A reader may end this process.
import { readers } from './other-readers.ts'

export interface Task {
  readonly reader: string
  readonly origin: string
  readonly urls: readonly string[] | undefined
  /** Of `@politely/sitemaps`. */
  readonly limits: Readonly<Record<string, number>> | undefined
}

process.on('message', async ({ reader, origin, urls, limits }: Task) => {
  const found = await readers
    .find(({ name }) => name === reader)
    ?.read(origin, urls, limits)
    .catch(() => 'throws' as const)
  process.send?.(found)
})
