// @module-tag full
// @module-tag heap
// The memory for a long file.
import { heapBytes } from '@politely/testkit/heap'
import { expect, it } from 'vitest'
import { readSitemaps } from '../src/index.ts'

const ENTRIES = 700_000
const PER_CHUNK = 500

async function* longFile() {
  yield Buffer.from('<urlset>')
  for (let first = 0; first < ENTRIES; first += PER_CHUNK) {
    const entry = (_: unknown, n: number) =>
      `<url><loc>https://site.example/products/${first + n}</loc><lastmod>2026-03-04T05:06:${10 + (n % 50)}Z</lastmod></url>`
    yield Buffer.from(Array.from({ length: PER_CHUNK }, entry).join('\n'))
  }
  yield Buffer.from('</urlset>')
}

it('does not grow with the number of entries', async () => {
  const limits = { maxEntriesPerFile: ENTRIES, maxBytesIn: 1e9, maxBytesOut: 1e9 }
  const reading = readSitemaps(longFile(), { base: 'https://site.example/sitemap.xml', limits })
  let count = 0
  let early = 0
  let late = 0
  for await (const _entry of reading) {
    count++
    if (count === ENTRIES / 10) early = await heapBytes()
    if (count === ENTRIES - 1) late = await heapBytes()
  }
  expect(count).toBe(ENTRIES)
  expect(reading.files.list[0]?.outcome).toBe('complete')
  // If entries were kept, the heap would have 10 MB more.
  expect(late - early).toBeLessThan(4_000_000)
})
