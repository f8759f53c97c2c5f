// `politely cache ls|show|prune` for the pages of `--cache`.
import type { ListedPage, PageCache } from '@politely/cache'
import { formatTime } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { withExistingPageFile } from '../../input/page-file.ts'
import { UnprintableError, writePage } from '../../output/page.ts'
import { printReport, rowsWithin } from '../../output/report.ts'
import {
  bold,
  countText,
  durationText,
  errorLine,
  linesOf,
  printable,
  type Row,
  safeText,
  sizeText,
} from '../../output/style.ts'
import { write } from '../../output/write.ts'
import { assertAge, printListing, selectionOf } from './rows.ts'

export function listPages(args: Arguments): Promise<number> {
  const selection = selectionOf(args, Date.now())
  return printListing(args, {
    rows: rowsWithin<Listed>((pass) =>
      withExistingPageFile(args, async (cache) => {
        for await (const page of cache.pages())
          if (selection.matches(page.record.url, page.record.receivedAt)) await pass(await listedOf(page, cache))
      }),
    ),
    columns: [['status', 6], ['age', 8], ['fresh', 10], ['size', 9], ['next visit', 10], ['url']],
    cells: ({ status, ageMs, freshForMs, bytes, nextVisitAt, url }) => [
      String(status),
      durationText(ageMs),
      freshForMs > 0 ? durationText(freshForMs) : 'no',
      sizeText(bytes),
      visitText(nextVisitAt),
      printable(url),
    ],
    total: (count, bytes) => `${countText(count, 'page')}, ${sizeText(bytes)}`,
  })
}

/** Writes what is known of each page to stderr, and its body to stdout, as `fetch` does. */
export function showPages(args: Arguments, operands: readonly string[]): Promise<number> {
  const file = args.get('output')
  const isText = args.get('format') === 'text'
  if (operands.length === 0)
    throw new UsageError('cache show: no URL was given; write one such as https://example.com/page')
  if (operands.length > 1 && file !== undefined)
    throw new UsageError('--output: is for one page, and several URLs were given; write one URL')
  const urls = operands.map(urlOf)
  let isComplete = true
  return printReport(args, {
    rows: rowsWithin<Shown>((pass) =>
      withExistingPageFile(args, async (cache) => {
        for (const url of urls) {
          const page = (await cache.pages(url).next()).value || undefined
          const response = page && (await cache.get(url))
          if (page === undefined || response === undefined) {
            isComplete = false
            process.stderr.write(errorLine(`${url} is not in the cache; politely cache ls lists what is there`))
            continue
          }
          const { visits = [] } = (await cache.visits(url)) ?? {}
          const headers = page.record.headers.map(([name, value]) => ({ name, value }))
          await pass({ ...(await listedOf(page, cache)), headers, visits })
          if (isText || file !== undefined)
            await writePage(response, { file }).catch((error) => {
              throw error instanceof UnprintableError ? new UsageError(error.message) : error
            })
        }
      }),
    ),
    list: 'entries',
    json: (one) => one,
    text: textOf,
    ...(isText && { write: (text: string) => process.stderr.write(text) }),
    end: () => ({ exit: isComplete ? 'success' : 'disallowed' }),
  })
}

export async function prunePages(args: Arguments): Promise<number> {
  assertAge(args)
  const selection = selectionOf(args, Date.now())
  await withExistingPageFile(args, async (cache) => {
    let count = 0
    const { pages, bytes } = await cache.prune({
      olderThanMs: 0,
      where: ({ record }) => {
        count++
        return selection.matches(record.url, record.receivedAt)
      },
    })
    await write(`removed ${countText(pages, 'page')} of ${count.toLocaleString('en')}, ${sizeText(bytes)}\n`)
  })
  return EXITS.success.code
}

/** What `ls` prints about a page. */
interface Listed {
  readonly origin: string
  readonly state: 'fresh' | 'stale'
  readonly url: string
  readonly status: number
  /** RFC 9111 §4.2.3. */
  readonly ageMs: number
  /** How long it is fresh from now on. 0 if it is not. */
  readonly freshForMs: number
  readonly bytes: number
  /** When its body was stored. Milliseconds since 1970. */
  readonly storedAt: number
  /** Milliseconds since 1970. */
  readonly nextVisitAt: number | undefined
}

async function listedOf({ record, bodyBytes, ageMs, lifetimeMs }: ListedPage, cache: PageCache): Promise<Listed> {
  const { url, status, storedAt } = record
  const dueAt = (await cache.visits(url))?.dueAt
  return {
    origin: new URL(url).origin,
    state: ageMs < lifetimeMs ? 'fresh' : 'stale',
    url,
    status,
    ageMs: Math.round(ageMs),
    freshForMs: Math.max(0, Math.round(lifetimeMs - ageMs)),
    bytes: bodyBytes,
    storedAt,
    nextVisitAt: dueAt && Math.round(dueAt),
  }
}

interface Shown extends Listed {
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly visits: readonly { readonly at: number; readonly status: number; readonly changed: boolean }[]
}

function textOf({ url, status, ageMs, freshForMs, storedAt, nextVisitAt, bytes, headers, visits }: Shown): string {
  const fresh = freshForMs > 0 ? `fresh for ${durationText(freshForMs)}` : 'not fresh'
  const rows: readonly Row[] = [
    ['page', `status ${status}, ${sizeText(bytes)}, ${durationText(ageMs)} old, ${fresh}`],
    ['stored', formatTime(storedAt)],
    ['next visit', visitText(nextVisitAt)],
    ['headers', headers.map(({ name, value }) => safeText(`${name}: ${value}`))],
    ['visits', visits.map((visit, n) => pastText(visit, n === 0))],
  ]
  return `${[bold(printable(url)), ...linesOf(10, rows)].join('\n')}\n`
}

/** The first visit has nothing to compare with. */
function pastText({ at, status, changed }: Shown['visits'][number], isFirst: boolean): string {
  const outcome = isFirst || status === 0 ? '' : changed ? '  changed' : '  unchanged'
  return `${formatTime(at)}  ${status === 0 ? 'no response' : status}${outcome}`
}

function visitText(at: number | undefined): string {
  if (at === undefined) return 'never'
  const ms = at - Date.now()
  return ms <= 0 ? 'due' : `in ${durationText(ms)}`
}

/** @throws {UsageError} for an invalid URL. */
function urlOf(operand: string): string {
  const url = URL.parse(operand.includes('://') ? operand : `https://${operand}`)
  if (url !== null) return url.href
  throw new UsageError(`${JSON.stringify(operand)} is not a URL; write one such as https://example.com/page`, operand)
}
