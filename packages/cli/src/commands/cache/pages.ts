// `politely cache ls|show|prune` for the pages of `--cache`.
import type { ListedPage, PageCache } from '@politely/cache'
import { formatTime } from '@politely/core/internal'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { withExistingPageFile } from '../../input/page-file.ts'
import { countText, durationText, sizeText } from '../../output/amounts.ts'
import { UnprintableError, writePage } from '../../output/page.ts'
import { bold, dim, errorLine, printable, safeText } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { assertAge } from './prune.ts'
import { selectionOf } from './rows.ts'

const WIDTHS = [6, 8, 10, 9, 10] as const

export async function listPages(args: Arguments): Promise<number> {
  const selection = selectionOf(args, Date.now())
  const format = args.get('format')
  const listed: Listed[] = []
  let count = 0
  let bytes = 0
  await withExistingPageFile(args, async (cache) => {
    for await (const page of cache.pages()) {
      if (!selection.matches(page.record.url, page.record.receivedAt)) continue
      const one = await listedOf(page, cache)
      bytes += one.bytes
      if (format === 'json') listed.push(one)
      else if (format === 'ndjson') await write(jsonLine({ version: 1, ...one }))
      else {
        if (count === 0) await write(`${bold(columns('status', 'age', 'fresh', 'size', 'next visit', 'url'))}\n`)
        const { status, ageMs, freshForMs, nextVisitAt, url } = one
        const fresh = freshForMs > 0 ? durationText(freshForMs) : 'no'
        const cells = [String(status), durationText(ageMs), fresh, sizeText(one.bytes), visitText(nextVisitAt)]
        await write(`${columns(...cells, printable(url))}\n`)
      }
      count++
    }
  })
  if (format === 'json') await write(jsonLine({ version: 1, entries: listed }))
  if (format === 'text') await write(`${dim(`${countText(count, 'page')}, ${sizeText(bytes)}`)}\n`)
  return EXITS.success.code
}

/** Writes what is known of each page to stderr, and its body to stdout, as `fetch` does. */
export async function showPages(args: Arguments, operands: readonly string[]): Promise<number> {
  const file = args.get('output')
  const format = args.get('format')
  if (operands.length === 0)
    throw new UsageError('cache show: no URL was given; write one such as https://example.com/page')
  if (operands.length > 1 && file !== undefined)
    throw new UsageError('--output: is for one page, and several URLs were given; write one URL')
  const urls = operands.map(urlOf)
  const shown: object[] = []
  let found = 0
  await withExistingPageFile(args, async (cache) => {
    for (const url of urls) {
      const page = (await cache.pages(url).next()).value || undefined
      const response = page && (await cache.get(url))
      if (page === undefined || response === undefined) {
        process.stderr.write(errorLine(`${url} is not in the cache; politely cache ls lists what is there`))
        continue
      }
      found++
      const { visits = [] } = (await cache.visits(url)) ?? {}
      const one = {
        ...(await listedOf(page, cache)),
        headers: page.record.headers.map(([name, value]) => ({ name, value })),
        visits,
      }
      if (format === 'json') shown.push(one)
      else if (format === 'ndjson') await write(jsonLine({ version: 1, ...one }))
      else process.stderr.write(textOf(one))
      if (format === 'text' || file !== undefined)
        await writePage(response, { file }).catch((error) => {
          throw error instanceof UnprintableError ? new UsageError(error.message) : error
        })
    }
  })
  if (format === 'json') await write(jsonLine({ version: 1, entries: shown }))
  return found === urls.length ? EXITS.success.code : EXITS.disallowed.code
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
  const rows = [
    row('page', `status ${status}, ${sizeText(bytes)}, ${durationText(ageMs)} old, ${fresh}`),
    row('stored', formatTime(storedAt)),
    row('next visit', visitText(nextVisitAt)),
    ...headers.map(({ name, value }, n) => row(n === 0 ? 'headers' : '', safeText(`${name}: ${value}`))),
    ...visits.map((visit, n) => row(n === 0 ? 'visits' : '', pastText(visit, n === 0))),
  ]
  return `${[bold(printable(url)), ...rows].join('\n')}\n`
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

/** The URL is last, since its length is not bounded. */
function columns(...cells: readonly string[]): string {
  return cells.map((cell, n) => cell.padEnd(WIDTHS[n] ?? 0)).join('  ')
}

function row(label: string, text: string): string {
  return `  ${dim(label.padEnd(10))} ${text}`
}
