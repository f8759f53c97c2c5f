// Another program reads our WARC files: warcio of the Webrecorder project.
import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WARCParser } from 'warcio'
import { evidenceWarc } from '../src/index.ts'
import { decisionOf, entryOf, ROBOTS, START } from './decisions.ts'
import { newFolder } from './evidence-folder.ts'

test('warcio finds the robots.txt and all records, with right lengths and digests', async () => {
  const dir = newFolder()
  const sink = evidenceWarc({ dir, now: () => START })
  const entry = entryOf('https://shop.example')
  const { id } = sink.decided(decisionOf('https://shop.example/private/1', entry))
  sink.decided(decisionOf('https://shop.example/2', entry))
  sink.ended({ id, at: START, outcome: 'not-sent' })
  await sink.close()
  const [name = ''] = readdirSync(dir)
  const found: string[] = []
  const kinds: string[] = []
  const ids: (string | undefined)[] = []
  for await (const record of WARCParser.iterRecords(createReadStream(join(dir, name)))) {
    const text = await record.contentText()
    found.push(record.warcType as string)
    if (record.warcType === 'response') {
      expect(text).toBe(ROBOTS)
      expect(record.httpHeaders?.statusCode).toBe(200)
      const { headers } = record.httpHeaders as { headers: Headers }
      expect(headers.get('content-length')).toBe(`${ROBOTS.length}`)
      expect(headers.get('x-archive-orig-content-encoding')).toBe('gzip')
      expect([headers.get('content-encoding'), headers.get('set-cookie')]).toEqual([null, null])
      expect(record.warcTargetURI).toBe('https://shop.example/robots.txt')
      ids.push(record.warcHeader('WARC-Record-ID') ?? undefined)
    }
    if (record.warcType !== 'metadata') continue
    const { kind } = JSON.parse(text)
    kinds.push(kind)
    if (kind === 'decision') ids.push(record.warcHeader('WARC-Concurrent-To') ?? undefined)
  }
  expect(found.filter((type) => type !== 'metadata')).toEqual(['warcinfo', 'response'])
  expect(kinds).toEqual(['start', 'robots-txt', 'decision', 'decision', 'result', 'end'])
  expect(new Set(ids).size).toBe(1)
})
