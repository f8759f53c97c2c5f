// The records of a small crawl, which are the same in each run.
import { hash } from 'node:crypto'
import { evidenceStream } from '@politely/evidence'
import { decisionOf, entryOf, START } from '../../evidence/test/decisions.ts'

const ROBOTS = 'User-agent: *\nDisallow: /cart\n\nUser-agent: OtherBot\nDisallow: /\n'

/**
 * The file as a zstd frame without compression (RFC 8878 §3.1.1): versions of zstd compress
 * differently.
 */
const FRAME: Buffer = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, ROBOTS.length, ((ROBOTS.length << 3) & 0xff) | 1, ROBOTS.length >> 5, 0]),
  Buffer.from(ROBOTS),
])

/** Returns NDJSON with a request to /about, which was answered, and one to /cart, which is disallowed. */
export async function evidenceText(): Promise<string> {
  const lines: string[] = []
  const sink = evidenceStream({ write: (text) => void lines.push(...text.trimEnd().split('\n')), now: () => START })
  const entry = entryOf('https://example.com', ROBOTS)
  const { id } = sink.decided(decisionOf('https://example.com/about', entry))
  sink.ended({ id, at: START, outcome: 'answered', status: 200, tookMs: 35 })
  sink.decided(decisionOf('https://example.com/cart', entry))
  await sink.close()
  let prev = ''
  const texts = lines.map((line) => {
    const record = JSON.parse(line.replaceAll(sink.state.chain, 'c0ffee000001'))
    const start = record.kind === 'start' && { politely: '1.0.0', node: 'v24.21.0', pid: 1, host: 'c0ffee000002' }
    const content = record.content && { content: FRAME.toString('base64') }
    const by = record.by && { by: { ...record.by, politely: '1.0.0' } }
    const text = JSON.stringify({ ...record, prev, ...start, ...content, ...by })
    prev = hash('sha256', text)
    return `${text}\n`
  })
  return texts.join('')
}
