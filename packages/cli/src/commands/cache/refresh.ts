// `politely cache refresh`: fetches robots.txt files anew, and says what has changed.
import { type Entry, type State, stateOf } from '@politely/core/engine'
import { defaultAccessPolicy, describeState } from '@politely/core/internal'
import type { RobotsClient } from '@politely/fetcher'
import type { SqliteStore } from '@politely/sqlite'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { withClient } from '../../input/client.ts'
import { withExistingStore } from '../../input/store.ts'
import { Progress } from '../../output/progress.ts'
import { printReport, rowsWithin } from '../../output/report.ts'
import { bold, countText, durationText, green, printable, red, yellow } from '../../output/style.ts'
import { entryIn, originOfOperand, rowsOf, selectionOf } from './rows.ts'

const CONCURRENCY = 16

interface Refreshed {
  readonly origin: string
  /** `waiting`: the last attempt failed, and the next one is not due yet. */
  readonly result: 'changed' | 'unchanged' | 'new' | 'unreachable' | 'waiting'
  readonly state: State
  readonly why: string
  readonly nextAttemptAt: number | undefined
}

const MARKS: Readonly<Record<Refreshed['result'], string>> = {
  changed: yellow('changed    '),
  unchanged: green('unchanged  '),
  new: green('new        '),
  unreachable: red('unreachable'),
  waiting: yellow('waiting    '),
}

export function refresh(args: Arguments, operands: readonly string[]): Promise<number> {
  const isSelection = args.has('all') || args.has('older-than') || args.has('host')
  if (operands.length === 0 && !isSelection)
    throw new UsageError('cache refresh: write an origin such as https://example.com, or --all, or --older-than DAYS')
  if (operands.length > 0 && isSelection)
    throw new UsageError('cache refresh: write origins, or --all, --host and --older-than, but not both')
  const now = Date.now()
  const selection = selectionOf(args, now)
  const given = operands.map(originOfOperand)
  const counts: Partial<Record<Refreshed['result'], number>> = {}
  let count = 0
  async function* origins(store: SqliteStore): AsyncGenerator<string> {
    if (given.length > 0) yield* given
    // A row that is refreshed moves to the end of the list, where it is too new to be yielded again.
    else for await (const { entry } of rowsOf(store, selection, now)) if (entry.latest.at < now) yield entry.origin
  }
  return printReport(args, {
    rows: rowsWithin<Refreshed>((pass) =>
      withExistingStore(args, (store) =>
        withClient(
          args,
          async (client) => {
            const progress = new Progress('origins')
            for await (const one of refreshed(client, store, origins(store), now)) {
              progress.update(++count)
              counts[one.result] = (counts[one.result] ?? 0) + 1
              await pass(one)
            }
            progress.end(count)
          },
          { store },
        ),
      ),
    ),
    list: 'entries',
    json: (one) => one,
    text: textOf,
    exit: ({ result }) => (result === 'unreachable' || result === 'waiting' ? 'unreachable' : 'success'),
    end() {
      const parts = Object.entries(counts).map(([result, count]) => `${count} ${result}`)
      return { text: `${[countText(count, 'origin'), ...(count === 0 ? [] : [parts.join(', ')])].join(': ')}\n` }
    },
  })
}

async function* refreshed(
  client: RobotsClient,
  store: SqliteStore,
  origins: AsyncIterable<string>,
  now: number,
): AsyncGenerator<Refreshed> {
  const before = new Map<string, Entry | undefined>()
  async function* urls() {
    for await (const origin of origins) {
      before.set(origin, await entryIn(store, origin))
      yield `${origin}/`
    }
  }
  // `checkMany` counts the age from its own start, so no origin is fetched twice.
  for await (const verdict of client.checkMany(urls(), { maxAgeMs: 0, concurrency: CONCURRENCY, order: 'ready' })) {
    const { origin = '' } = verdict
    yield refreshedOf(origin, before.get(origin), await entryIn(store, origin), now)
    before.delete(origin)
  }
}

function refreshedOf(origin: string, last: Entry | undefined, entry: Entry | undefined, startedAt: number): Refreshed {
  const now = Date.now()
  return {
    origin,
    result: resultOf(last, entry, startedAt),
    state: stateOf(entry, now, defaultAccessPolicy),
    why: describeState(entry, now, defaultAccessPolicy),
    nextAttemptAt: entry?.nextAttemptAt,
  }
}

function resultOf(last: Entry | undefined, entry: Entry | undefined, startedAt: number): Refreshed['result'] {
  if (entry === undefined) return 'unreachable' // a failure of the client itself is not stored
  if (entry.latest.kind === 'unreachable') return entry.latest.at < startedAt ? 'waiting' : 'unreachable'
  if (last === undefined) return 'new'
  return last.copy?.bytes === entry.copy?.bytes && last.latest.kind === entry.latest.kind ? 'unchanged' : 'changed'
}

function textOf({ origin, result, why, nextAttemptAt }: Refreshed): string {
  const isBad = result === 'unreachable' || result === 'waiting'
  const next =
    nextAttemptAt === undefined
      ? ''
      : `; the next attempt is due in ${durationText(Math.max(0, nextAttemptAt - Date.now()))}`
  const reason = isBad ? `\n             ${why.replace(/; the next attempt is due.*/, next)}` : ''
  return `${MARKS[result]}  ${bold(printable(origin))}${reason}\n`
}
