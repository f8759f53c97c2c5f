// Writes to stdout with back-pressure.
import { once } from 'node:events'

/** Resolves when more may be written, so that unread output does not fill the memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
