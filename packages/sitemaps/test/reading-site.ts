// The site of the tests of readings, and what they look at.
import { type PoliteFetch, politely } from '@politely/gate'
import { onTestFinished } from 'vitest'
import { describeResult } from '../src/file-result.ts'
import type { SitemapEntry, SitemapReading } from '../src/index.ts'

/** Returns a polite fetch, which is closed at the end of the test. */
export function politeFetch(): PoliteFetch<typeof globalThis.fetch> {
  const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', network: 'any', minDelayMs: 0 })
  onTestFinished(() => fetch.close())
  return fetch
}

export async function all(reading: SitemapReading): Promise<SitemapEntry[]> {
  const entries: SitemapEntry[] = []
  for await (const entry of reading) entries.push(entry)
  return entries
}

const withoutOrigin = (url: string) => url.replace(/^http:\/\/127\.0\.0\.1:\d+/, '')
export const paths = (entries: readonly SitemapEntry[]): string[] => entries.map(({ loc }) => withoutOrigin(loc))
export const outcomes = ({ files }: SitemapReading): string[] =>
  files.list.map((file) => `${withoutOrigin(file.url)} ${describeResult(file)}`)
/** Returns the first days of a month of 2026. */
export const days = (month: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `2026-${`${month}`.padStart(2, '0')}-${`${n + 1}`.padStart(2, '0')}`)

/** Uses another folder for temporary files until the end of the test. */
export function withTemporaryFolder(folder: string): void {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
}
