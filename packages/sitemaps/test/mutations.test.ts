// Mutated files: no exception, a result for each, and work that is linear in the length of the file.

import { sitemapCases } from '@politely/testkit/cases/sitemap-cases'
import { seededRandom } from '@politely/testkit/random-robots'
import { isFullRun } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { readSitemaps } from '../src/index.ts'

const ORIGIN = 'https://site.example'
/** Longer files take most of the time, and teach nothing more. */
const MAX_BYTES = 6_000
const PIECES = [
  '<url>',
  '</url>',
  '<loc>',
  '</loc>',
  '<',
  '>',
  '&',
  '&#',
  ';',
  '"',
  "'",
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?',
  '?>',
  '<!',
  '/',
  ' ',
  '\0',
  '\uFEFF',
  '<urlset',
  '</urlset>',
  '<image:image>',
  '<sitemap>',
  '\u001f\u008b',
]

const files = sitemapCases
  .flatMap(({ site }) => Object.values(site(ORIGIN, 'https://other.example')))
  .map(({ body }) => Buffer.from(body ?? ''))
  .filter(({ length }) => length > 0 && length <= MAX_BYTES)

function mutated(file: Buffer, random: () => number): Buffer {
  let bytes = file
  for (let mutations = 1 + Math.floor(random() * 4); mutations > 0; mutations--) {
    const at = Math.floor(random() * bytes.length)
    const end = Math.min(bytes.length, at + Math.floor(random() ** 3 * bytes.length))
    const piece = Buffer.from(
      PIECES[Math.floor(random() * PIECES.length)] as string,
      random() < 0.9 ? 'utf8' : 'latin1',
    )
    const kind = Math.floor(random() * 5)
    if (kind === 0) bytes = bytes.subarray(0, at)
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
    else {
      bytes = Buffer.from(bytes)
      if (at < bytes.length) bytes[at] = Math.floor(random() * 256)
    }
  }
  return bytes
}

/** Splits the bytes into chunks, and counts how many are read. */
async function* chunked(bytes: Buffer, random: () => number, seen: { chunks: number }) {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() ** 2 * bytes.length)
    seen.chunks++
    yield bytes.subarray(at, at + size)
    at += size
  }
}

it(
  'never throws, and reports each file',
  async () => {
    const random = seededRandom(46)
    const count = isFullRun ? 1_000_000 : 1_000
    for (let n = 0; n < count; n++) {
      const bytes = mutated(files[n % files.length] as Buffer, random)
      const seen = { chunks: 0 }
      const reading = readSitemaps(chunked(bytes, random, seen), { base: `${ORIGIN}/s.xml`, limits: { maxFiles: 100 } })
      let entries = 0
      for await (const { loc } of reading) {
        entries++
        if (!URL.canParse(loc)) expect.fail(`${loc} is not a URL`)
      }
      const [file, ...others] = reading.files.list
      if (file === undefined || file.entries !== entries || file.bytesIn > bytes.length)
        expect.fail(JSON.stringify({ n, file }))
      if (file.outcome !== 'complete' && file.reason === undefined) expect.fail(`${n} has no reason`)
      // An entry takes at least a line of 8 characters: `https://` or its tags.
      if (entries + others.length > 8 * Math.max(file.bytesOut, 1)) expect.fail(`${n} has ${entries} entries`)
    }
  },
  isFullRun ? 3_600_000 : undefined,
)
