// stdout, at the pace of whoever reads it.
import { once } from 'node:events'

/** Resolves when more may be written: what waits to be read does not pile up in memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
