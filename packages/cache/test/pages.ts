// Responses that a test can recognize: their records have the hash of their bodies.
import { createHash } from 'node:crypto'
import { seededRandom } from '@politely/testkit/random-robots'
import type { PageRecord, PageStore, StoredPage } from '../src/page-store.ts'

export const START: number = Date.UTC(2026, 5, 1)
export const urlOf = (n: number): string => `https://a.test/${n}`

export function recordOf(url: string, body: Uint8Array, step = 0): PageRecord {
  return {
    url,
    varied: [],
    status: 200,
    statusText: 'OK',
    headers: [
      ['x-hash', hashOf(body)],
      ['x-step', `${step}`],
    ],
    robotsTags: [],
    requestedAt: START,
    receivedAt: START,
    storedAt: START,
  }
}

/** Half of the bodies are rows, most others are files of at most 300 KB, and some have up to 3 MB. */
export function bodyOf(seed: number): Buffer {
  const random = seededRandom(seed)
  const longest = random() < 0.5 ? 20_000 : random() < 0.8 ? 300_000 : 3_000_000
  const block = Buffer.from(Uint8Array.from({ length: 1_021 }, () => random() * 256))
  return Buffer.alloc(Math.floor(random() * longest), block)
}

export async function put(store: PageStore, record: PageRecord, body: Uint8Array): Promise<void> {
  const writer = await store.begin()
  try {
    for (let at = 0; at < body.length; at += 50_000) await writer.write(body.subarray(at, at + 50_000))
    await writer.commit(record)
  } catch (error) {
    await writer.abort()
    throw error
  }
}

/**
 * Reads a body. Returns whether it is what was written; undefined if it is gone.
 * @throws what the store throws if it can be read in part only.
 */
export async function isWhole(store: PageStore, { id, record, bodyBytes }: StoredPage): Promise<boolean | undefined> {
  const chunks = await store.body(id)
  if (chunks === undefined) return undefined
  const read: Uint8Array[] = []
  for await (const chunk of chunks) read.push(chunk)
  const body = Buffer.concat(read)
  return body.length === bodyBytes && hashOf(body) === headerOf(record, 'x-hash')
}

export function headerOf({ headers }: PageRecord, name: string): string | undefined {
  return headers.find(([one]) => one === name)?.[1]
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}
