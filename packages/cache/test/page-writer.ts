// A process that writes pages to a store:
//   node page-writer.ts FILE SEED STEPS MAX_BYTES
// It prints a line for each page: its number and the step when `commit` has resolved, or the code and
// the message of the error. `node page-writer.ts FILE large BYTES` writes and reads one long page, and
// prints how much its memory grew.
import { SqlitePageStore } from '../src/sqlite/sqlite-page-store.ts'
import { bodyOf, put, recordOf, START, urlOf } from './pages.ts'

const [file = '', seed = '', steps = '', maxBytes] = process.argv.slice(2)
const store = new SqlitePageStore({
  file,
  busyTimeoutMs: 60_000,
  ...(maxBytes !== undefined && { maxBytes: Number(maxBytes) }),
})

if (seed === 'large') await writeLargePage(Number(steps))
else await Promise.all([0, 1].map((lane) => writePages(lane)))
await store.close()

/** Two lanes write at the same time, each to URLs of its own. */
async function writePages(lane: number): Promise<void> {
  for (let step = 1; step <= Number(steps); step++) {
    const n = 2 * (step % 10) + lane
    const body = bodyOf(1_000_000 * Number(seed) + 10 * step + lane)
    try {
      await put(store, recordOf(urlOf(n), body, step), body)
      await store.setVisits({ url: urlOf(n), visits: [{ at: START, status: 200, changed: true }], dueAt: step })
      await printed(`${n} ${step}\n`)
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string }
      await printed(`${code ?? 'no code'} ${message}\n`)
    }
  }
}

async function writeLargePage(bytes: number): Promise<void> {
  const chunk = Buffer.alloc(65_536, 'a long page ')
  const before = process.memoryUsage()
  let [heap, rss] = [0, 0]
  const measure = () => {
    const now = process.memoryUsage()
    heap = Math.max(heap, now.heapUsed + now.external - before.heapUsed - before.external)
    rss = Math.max(rss, now.rss - before.rss)
  }
  const writer = store.begin()
  for (let at = 0; at < bytes; at += chunk.length, measure()) await writer.write(chunk.subarray(0, bytes - at))
  await writer.commit(recordOf(urlOf(0), chunk))
  const [page] = await store.find(urlOf(0))
  let read = 0
  for await (const block of (await store.body(page?.id ?? 0)) ?? []) {
    read += block.length
    measure()
  }
  await printed(JSON.stringify({ read, heap, rss }))
}

/** Resolves when the pipe has taken the line. */
function printed(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(line, () => resolve()))
}
