// Evidence as WARC 1.1 (ISO 28500:2017), for archives that keep it with their crawl. Each record is
// a gzip member (Annex D). A line of NDJSON is the block of a `metadata` record.
import { hash, randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { LRUCache } from '@politely/fetcher/internal'
import { Folder, type Format } from './folder.ts'
import { type Evidence, type Item, Journal } from './journal.ts'
import { type EvidenceFileOptions, folderSettings } from './options.ts'
import type { RobotsFile } from './recorder.ts'

/** For how many decisions their URLs are remembered, for the records of their results. */
const MAX_DECISIONS = 10_000

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
  const settings = folderSettings(options)
  return new Journal(settings, (chain) => new Folder(settings, warcFormat(chain)))
}

function warcFormat(chain: string): Format {
  const decisions = new LRUCache<string, Pick<Item, 'url' | 'file' | 'fileId'>>({ max: MAX_DECISIONS })
  let files = 0
  let infoId = ''
  return {
    compresses: false,
    openName: (now) => {
      const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
      return `politely-${time}-${chain}-${++files}.warc.gz.open`
    },
    doneName: (name) => (/^politely-.*\.warc\.gz\.open$/.test(name) ? name.slice(0, -'.open'.length) : undefined),
    prologue: (name, now) => {
      infoId = randomUUID()
      const block = 'software: politely\r\nformat: WARC File Format 1.1\r\n'
      const type = { 'WARC-Type': 'warcinfo', 'WARC-Filename': name, 'Content-Type': 'application/warc-fields' }
      return recordOf(infoId, new Date(now).toISOString(), block, type)
    },
    bytesOf: (line, item) => {
      const { id } = item
      if (id !== undefined && item.url !== undefined) decisions.set(id, { url: item.url, fileId: item.fileId })
      const { url, file, fileId } = (id === undefined ? undefined : decisions.get(id)) ?? item
      const metadata = recordOf(randomUUID(), item.time, line, {
        'WARC-Type': 'metadata',
        'WARC-Warcinfo-ID': `<urn:uuid:${infoId}>`,
        'WARC-Target-URI': targetOf(file?.url ?? url),
        'WARC-Concurrent-To': fileId && `<urn:uuid:${fileId}>`,
        'Content-Type': 'application/json',
      })
      return file && fileId ? Buffer.concat([robotsRecord(fileId, file, infoId), metadata]) : metadata
    },
    textOf: (bytes) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString(),
    keep: () => undefined, // it's in the same file
  }
}

/** The record of a robots.txt: a `response` if its response is known, otherwise a `resource`. */
function robotsRecord(fileId: string, file: RobotsFile, infoId: string): Buffer {
  const { url, bytes, sha256, status = 0, copy } = file
  // The headers of a 304 are not those of the file. FTP has none.
  const headers = status >= 200 && status < 300 && !/^ftp:/i.test(url) ? file.headers : undefined
  let head = ''
  if (headers !== undefined) {
    head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    for (const [name, value] of Object.entries(headers)) {
      const shown = OF_CODED_BODY.test(name) ? `X-Archive-Orig-${name}` : name
      for (const line of [value].flat()) head += `${shown}: ${line.replace(/[\r\n]+/g, ' ')}\r\n`
    }
    head += `Content-Length: ${bytes.length}\r\n\r\n`
  }
  const block = Buffer.concat([Buffer.from(head, 'latin1'), bytes])
  return recordOf(fileId, new Date(copy.confirmedAt).toISOString(), block, {
    'WARC-Type': headers ? 'response' : 'resource',
    'WARC-Warcinfo-ID': `<urn:uuid:${infoId}>`,
    'WARC-Target-URI': targetOf(url),
    'WARC-Payload-Digest': `sha256:${sha256}`,
    'WARC-Truncated': copy.truncated ? 'length' : undefined,
    'Content-Type': headers ? 'application/http; msgtype=response' : 'text/plain',
  })
}

type Fields = Readonly<Record<string, string | undefined>>

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

/** Returns a URL as a URI (RFC 3986); undefined for an invalid one. */
function targetOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).href : undefined
}
