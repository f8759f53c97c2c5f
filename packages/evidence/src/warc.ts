// Evidence as WARC 1.1 (ISO 28500:2017), for archives that keep it with their crawl. Each record is
// a gzip member (Annex D). A line of NDJSON is the block of a `metadata` record.
import { hash, randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Copy } from '@politely/core/engine'
import { boundedMap } from '@politely/fetcher/internal'
import { type Format, folderOutput } from './folder.ts'
import { type Evidence, openJournal, type RecordLine } from './journal.ts'
import { type EvidenceFileOptions, settingsOf } from './options.ts'
import type { DecisionRecord, FileRecord } from './record.ts'

/** For how many decisions and files their URLs and WARC records are remembered. */
const MAX_KNOWN = 20_000

/** Headers that do not fit to a decoded body: archives keep them under another name. */
const OF_CODED_BODY = /^(?:content-encoding|transfer-encoding|content-length)$/

/**
 * Creates a sink that writes WARC files: `politely-20261128T160000Z-CHAIN-N.warc.gz`, with `.open`
 * at the end while it is written. A robots.txt is a `response` record, or a `resource` if its
 * response is not known: it came by FTP, from a shared store, or was confirmed by a 304. All other
 * records are `metadata`. `mode: 'before-sending'` compresses each decision alone.
 * @throws {OptionError} for an invalid or unknown option.
 * @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`.
 */
export function evidenceWarc(options: EvidenceFileOptions): Evidence {
  return openJournal(settingsOf(options), (settings, chain) => folderOutput(settings, warcFormat(chain)))
}

function warcFormat(chain: string): Format {
  /** The URL of each decision, by its ID, and the WARC record of each robots.txt, by its hash. */
  const known = boundedMap<{ readonly url: string | undefined; readonly fileId: string | undefined }>(MAX_KNOWN)
  let files = 0
  let infoId = ''

  function* recordsOf({ text, copy }: RecordLine): Generator<Uint8Array> {
    const line = JSON.parse(text) as FileRecord & Partial<Pick<DecisionRecord, 'id' | 'robotsTxt'>>
    if ((line.kind as string) === 'start') {
      infoId = randomUUID()
      yield recordOf(infoId, line.time, 'software: politely\r\nformat: WARC File Format 1.1\r\n', {
        'WARC-Type': 'warcinfo',
        'Content-Type': 'application/warc-fields',
      })
    }
    const key = line.id ?? line.sha256 ?? ''
    const before = known.get(key)
    const url = before?.url ?? line.url
    const fileId = copy ? randomUUID() : (before ?? known.get(line.robotsTxt?.sha256 ?? ''))?.fileId
    if (key !== '') known.set(key, { url, fileId })
    const info = { 'WARC-Warcinfo-ID': `<urn:uuid:${infoId}>`, 'WARC-Target-URI': url && URL.parse(url)?.href }
    if (copy && fileId) yield robotsRecord(fileId, line, copy, info)
    yield recordOf(randomUUID(), line.time, text, {
      ...info,
      'WARC-Type': 'metadata',
      'WARC-Concurrent-To': fileId && `<urn:uuid:${fileId}>`,
      'Content-Type': 'application/json',
    })
  }

  return {
    written: '.warc.gz.open',
    finished: '.warc.gz',
    nameOf: (now) => `politely-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}-${chain}-${++files}`,
    bytesOf: (lines) => Buffer.concat(lines.flatMap((line) => [...recordsOf(line)])),
  }
}

type Fields = Readonly<Record<string, string | undefined>>

/** The record of a robots.txt: a `response` if its response is known, otherwise a `resource`. */
function robotsRecord(id: string, line: FileRecord, copy: Copy, info: Fields): Buffer {
  const { url, sha256, status = 0 } = line
  // The headers of a 304 are not those of the file. FTP has none.
  const headers = status >= 200 && status < 300 && !/^ftp:/i.test(url) ? line.headers : undefined
  const lines = Object.entries(headers ?? {}).flatMap(([name, value]) => {
    const shown = OF_CODED_BODY.test(name) ? `X-Archive-Orig-${name}` : name
    return [value].flat().map((text) => `${shown}: ${text.replace(/[\r\n]+/g, ' ')}\r\n`)
  })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}Content-Length: ${copy.bytes.length}\r\n\r\n`
  const block = Buffer.from(headers ? head + copy.bytes : copy.bytes, 'latin1')
  return recordOf(id, new Date(copy.confirmedAt).toISOString(), block, {
    ...info,
    'WARC-Type': headers ? 'response' : 'resource',
    'WARC-Payload-Digest': `sha256:${sha256}`,
    'WARC-Truncated': copy.truncated ? 'length' : undefined,
    'Content-Type': headers ? 'application/http; msgtype=response' : 'text/plain',
  })
}

/** Returns a record as a gzip member. @param fields Those that are undefined are left out. */
function recordOf(id: string, time: string, block: string | Uint8Array, fields: Fields): Buffer {
  const all = {
    ...fields,
    'WARC-Record-ID': `<urn:uuid:${id}>`,
    'WARC-Date': time,
    'WARC-Block-Digest': `sha256:${hash('sha256', block)}`,
    'Content-Length': `${Buffer.byteLength(block)}`,
  }
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}\r\n`))
  const parts = [`WARC/1.1\r\n${lines.join('')}\r\n`, block, '\r\n\r\n']
  return gzipSync(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
}
