// `politely cache prune`: removes entries that have expired or are old.
import { entryFrom } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { withExistingStore } from '../../input/store.ts'
import { countText } from '../../output/amounts.ts'
import { write } from '../../output/write.ts'
import { selectionOf } from './rows.ts'

/** @throws {UsageError} without `--older-than`. */
export function assertAge(args: Arguments): void {
  if (args.has('older-than')) return
  const [flag, what] = args.has('host') ? ['--host', 'all entries of the host'] : ['cache prune', 'all pages']
  throw new UsageError(`${flag}: needs --older-than; write --older-than 0 to remove ${what}`)
}

export async function prune(args: Arguments): Promise<number> {
  const now = Date.now()
  const selection = selectionOf(args, now)
  const hasAge = args.has('older-than')
  if (args.has('host')) assertAge(args)
  await withExistingStore(args, async (store) => {
    let count = 0
    const removed: string[] = []
    for await (const { origin, text, keepUntil } of store.list()) {
      count++
      const entry = keepUntil <= now ? undefined : entryFrom(text)
      if (keepUntil <= now || (hasAge && entry !== undefined && selection.matches(origin, entry.latest.at)))
        removed.push(origin)
    }
    await Promise.all(removed.map((origin) => store.delete(origin)))
    await write(`removed ${countText(removed.length, 'origin')} of ${count.toLocaleString('en')}\n`)
  })
  return EXITS.success.code
}
