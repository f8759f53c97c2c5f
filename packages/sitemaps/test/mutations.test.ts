// Mutated files: no exception, a result for each, and work that is linear in the length of the file.

import { sitemapCases } from '@politely/testkit/cases/sitemap-cases'
import { seededRandom } from '@politely/testkit/random-robots'
import { deepSampled, isFullRun } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { readSitemaps } from '../src/index.ts'
import { Tokens } from '../src/parse/tokens.ts'

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

/** Splits the bytes into chunks. */
async function* chunked(bytes: Buffer, random: () => number) {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() ** 2 * bytes.length)
    yield bytes.subarray(at, at + size)
    at += size
  }
}

/** Returns the number of tokens of a text. */
function tokensIn(text: string): number {
  let count = 0
  const step = () => {
    count++
  }
  const handler = { open: step, close: step, text: step, declaration: step, tooLong: step }
  const tokens = new Tokens(handler, { maxTextLength: 1_000, maxAttributeLength: 1_000 })
  tokens.write(text)
  tokens.end()
  return count
}

it(
  'never throws, and reports each file',
  async () => {
    const random = seededRandom(46)
    const count = deepSampled(1_000_000, 1_000)
    for (let n = 0; n < count; n++) {
      const bytes = mutated(files[n % files.length] as Buffer, random)
      const reading = readSitemaps(chunked(bytes, random), { base: `${ORIGIN}/s.xml`, limits: { maxFiles: 100 } })
      let entries = 0
      for await (const { loc } of reading) {
        entries++
        if (!URL.canParse(loc)) expect.fail(`${loc} is not a URL`)
      }
      const [file, ...others] = reading.files.list
      if (file === undefined || file.entries !== entries || file.bytesIn > bytes.length)
        expect.fail(JSON.stringify({ n, file }))
      if (file.outcome !== 'complete' && file.reason === undefined) expect.fail(`${n} has no reason`)
      const text = bytes.toString('latin1')
      if (tokensIn(text) > 2 * text.length + 2) expect.fail(`${n} has ${tokensIn(text)} tokens`)
      if (entries + others.length > file.bytesOut) expect.fail(`${n} has ${entries} entries`)
    }
  },
  isFullRun ? 3_600_000 : undefined,
)
