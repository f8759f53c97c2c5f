// Bodies of robots.txt as servers send them: coded, too long, damaged.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { seededRandom } from '../random-robots.ts'
import { disallowsPage, type ExpectedAccess } from './response-cases.ts'

export interface BodyCase {
  /** Source and case: a section of a standard or `our choice`, a comma, and the body. */
  readonly name: string
  readonly contentEncoding?: string
  /** Creates the body on demand, since some are large. */
  readonly body: () => Uint8Array
  readonly expected: BodyExpectation
}

export interface BodyExpectation extends ExpectedAccess {
  /** Whether the file was cut at the size limit; undefined if the client got no file. */
  readonly truncated: boolean | undefined
}

/** The default and minimum of the size limit, in bytes. RFC 9309 §2.5. */
export const bodyLimit: number = 500 * 1024

const success = { outcome: 'success', reason: 'status', truncated: false }
const rulesHold: BodyExpectation = { ...success, allowed: false, because: 'rule' }
const noRules: BodyExpectation = { ...success, allowed: true, because: 'no-group' }
const noneMatches: BodyExpectation = { ...success, allowed: true, because: 'no-rule-matched' }
const undecodable: BodyExpectation = {
  allowed: false,
  because: 'unreachable',
  outcome: 'unreachable',
  reason: 'undecodable',
  truncated: undefined,
}

/** Returns `beginning`, comment lines up to `length` bytes in all, and then `end`. */
function padded(beginning: string, length: number, end = '', lineEnd = '\n'): Buffer {
  const gap = length - beginning.length
  const line = `${'#'.repeat(99)}${lineEnd}`
  const start = line.length - (gap % line.length)
  const lines = Buffer.alloc(gap, line.slice(start) + line.slice(0, start))
  return Buffer.concat([Buffer.from(beginning), lines, Buffer.from(end)])
}

const EVERYONE = 'User-agent: *\n'
/** A rule that does not match `/page` unless it is cut after `/page`. */
const FORBIDS_IF_CUT = 'Disallow: /page-of-another-kind\n'
const ALLOWS_IF_CUT = 'Allow: /page-of-another-kind\n'
const afterPage = (rule: string) => rule.indexOf('/page') + '/page'.length

const plain = Buffer.from(disallowsPage)
const gzipped = gzipSync(plain)
/** Returns the same incompressible bytes on every call. */
function randomBytes(length: number): Buffer {
  const roll = seededRandom(1)
  return Buffer.from(Array.from({ length }, () => 128 + Math.floor(roll() * 128)))
}
/** Magic number, no flags, a window of 1 KiB. RFC 8878 §3.1.1.1. */
const zstdHeader = Buffer.from('28b52ffd0000', 'hex')
/** RFC 8878 §3.1.1.2. */
function zstdBlock(type: 'raw' | 'run', bytes: Uint8Array | string, size = bytes.length, position = 'inner'): Buffer {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type === 'run' ? 2 : 0) | (position === 'last' ? 1 : 0), 0, 3)
  return Buffer.concat([header, Buffer.from(bytes)])
}
/** Changes one byte, counted from the end. */
function damaged(bytes: Buffer, fromEnd: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(copy.length - fromEnd) ^ 0xff, copy.length - fromEnd)
  return copy
}

const zstd = zstdCompressSync(plain)
/** Frames of every form: from a compressor, and handmade ones with raw and run-length blocks. */
const zstdFrames = [
  ['a frame', zstd],
  ['with a checksum', zstdCompressSync(plain, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  ['without its size', zstdCompressSync(plain, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } })],
  ['in two blocks', zstdCompressSync(Buffer.from(disallowsPage + '# dull\n'.repeat(30_000)))],
  ['of incompressible bytes', zstdCompressSync(Buffer.concat([plain, randomBytes(300_000)]))],
  ['with a run', Buffer.concat([zstdHeader, zstdBlock('raw', plain), zstdBlock('run', '#', 99, 'last')])],
  ['with an empty last block', Buffer.concat([zstdHeader, zstdBlock('raw', plain), zstdBlock('raw', '', 0, 'last')])],
] as const

/** Options of gzip, deflate and Brotli. */
const QUICKLY = { level: 1, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
/** Bombs that are decompressed in several steps. The short run keeps the bombs with one coding. */
export const SLOW_BODIES: RegExp = /bomb.*: (?:.*, |deflate|br)/

/** 8 MiB that compress to less than 100 KB. */
const bomb = () => padded(disallowsPage, 8 * 1024 * 1024)
/**
 * 5 MiB that decode to nothing: a coding's header, then empty blocks, which are not the last one.
 */
const emptyBlocks = (header: Uint8Array, block: string) =>
  Buffer.concat([header, Buffer.from(block.repeat(2 ** 20), 'hex')])

export const bodyCases: readonly BodyCase[] = [
  // RFC 9110 §8.4.1: content codings.
  { name: 'RFC 9110 §8.4.1, gzip', contentEncoding: 'gzip', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, x-gzip', contentEncoding: 'x-gzip', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, in upper case', contentEncoding: 'GZIP', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, deflate', contentEncoding: 'deflate', body: () => deflateSync(plain), expected: rulesHold },
  {
    name: 'our choice, unrequested deflate without a zlib header',
    contentEncoding: 'deflate',
    body: () => deflateRawSync(plain),
    expected: rulesHold,
  },
  { name: 'RFC 7932, br', contentEncoding: 'br', body: () => brotliCompressSync(plain), expected: rulesHold },
  ...zstdFrames.map(
    ([name, frame]): BodyCase => ({
      name: `RFC 8878 §3.1.1, unrequested zstd: ${name}`,
      contentEncoding: 'zstd',
      body: () => frame,
      expected: rulesHold,
    }),
  ),
  { name: 'our choice, identity means uncoded', contentEncoding: 'identity', body: () => plain, expected: rulesHold },
  {
    name: 'our choice, an empty Content-Encoding means uncoded',
    contentEncoding: '',
    body: () => plain,
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §8.4, gzip twice',
    contentEncoding: 'gzip, gzip',
    body: () => gzipSync(gzipped),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §8.4, the last coding is removed first',
    contentEncoding: 'gzip, br',
    body: () => brotliCompressSync(gzipped),
    expected: rulesHold,
  },
  {
    name: 'RFC 1952 §2.2, gzip in two members',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipSync(EVERYONE), gzipSync('Disallow: /page\n')]),
    expected: rulesHold,
  },
  {
    name: 'our choice, gzip followed by zeros',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, Buffer.alloc(16)]),
    expected: rulesHold,
  },
  ...['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip'].map(
    (contentEncoding): BodyCase => ({
      name: `our choice, an empty ${contentEncoding} body is an empty file`,
      contentEncoding,
      body: () => Buffer.alloc(0),
      expected: noRules,
    }),
  ),

  // RFC 9309 §2.3.1.4: a body that does not decode makes robots.txt unreachable.
  {
    name: 'our choice, three codings are too many',
    contentEncoding: 'gzip, gzip, gzip',
    body: () => gzipSync(gzipSync(gzipped)),
    expected: undecodable,
  },
  ...['compress', 'utf-8', 'none', 'gzip;q=1', '__proto__', 'chunked', 'aws-chunked', 'utf-8, none'].map(
    (contentEncoding): BodyCase => ({
      name: `our choice, an unknown coding of plain text: "${contentEncoding}"`,
      contentEncoding,
      body: () => plain,
      expected: rulesHold,
    }),
  ),
  ...['utf-8, gzip', 'gzip, utf-8'].map(
    (contentEncoding): BodyCase => ({
      name: `our choice, an unknown coding beside a known one: "${contentEncoding}"`,
      contentEncoding,
      body: () => gzipped,
      expected: rulesHold,
    }),
  ),
  {
    name: 'our choice, an unknown coding of data that is not text',
    contentEncoding: 'compress',
    body: () => Buffer.from('1f9d9055ca95a193', 'hex'),
    expected: undecodable,
  },
  {
    name: 'our choice, an unknown coding after gzip, and no gzip',
    contentEncoding: 'gzip, compress',
    body: () => plain,
    expected: undecodable,
  },
  {
    name: 'our choice, deflate without a zlib header, truncated',
    contentEncoding: 'deflate',
    body: () => deflateRawSync(plain).subarray(0, -4),
    expected: undecodable,
  },
  ...['gzip', 'deflate', 'br', 'zstd'].map(
    (contentEncoding): BodyCase => ({
      name: `our choice, Content-Encoding ${contentEncoding} with an uncoded body`,
      contentEncoding,
      body: () => plain,
      expected: undecodable,
    }),
  ),
  {
    name: 'our choice, gzip with a wrong checksum',
    contentEncoding: 'gzip',
    body: () => damaged(gzipped, 6),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip with a damaged middle',
    contentEncoding: 'gzip',
    body: () => damaged(gzipped, gzipped.length - 16),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip followed by garbage',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, plain]),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip in two members, the second one truncated',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, gzipped.subarray(0, -4)]),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip twice, the inner one truncated',
    contentEncoding: 'gzip, gzip',
    body: () => gzipSync(gzipped.subarray(0, -4)),
    expected: undecodable,
  },
  ...(
    [
      ['gzip', gzipped],
      ['deflate', deflateSync(plain)],
      ['br', brotliCompressSync(plain)],
      ['zstd', zstd],
    ] as const
  ).flatMap(([contentEncoding, bytes]) =>
    [
      ['without its last 4 bytes', bytes.subarray(0, -4)],
      ['without its last byte', bytes.subarray(0, -1)],
      ['cut after one byte', bytes.subarray(0, 1)],
    ].map(
      ([how, body]): BodyCase => ({
        name: `our choice, ${contentEncoding} ${how}`,
        contentEncoding,
        body: () => body as Buffer,
        expected: undecodable,
      }),
    ),
  ),
  ...zstdFrames.map(
    ([name, frame]): BodyCase => ({
      name: `our choice, truncated zstd: ${name}`,
      contentEncoding: 'zstd',
      body: () => frame.subarray(0, -1),
      expected: undecodable,
    }),
  ),
  ...(
    [
      ['in two frames', Buffer.concat([zstd, zstd])],
      ['in two frames, the second one truncated', Buffer.concat([zstd, zstd.subarray(0, -9)])],
      ['followed by garbage', Buffer.concat([zstd, plain])],
      ['after a skippable frame', Buffer.concat([Buffer.from('502a4d180100000000', 'hex'), zstd])],
      [
        'with a window of 1 GiB',
        Buffer.concat([Buffer.from('28b52ffd00a0', 'hex'), zstdBlock('raw', plain, 30, 'last')]),
      ],
      ['with a block of unknown type', Buffer.concat([zstdHeader, Buffer.from('070000', 'hex')])],
      ['without a last block', Buffer.concat([zstdHeader, zstdBlock('raw', plain)])],
    ] as const
  ).map(
    ([how, frame]): BodyCase => ({
      name: `our choice, zstd ${how}`,
      contentEncoding: 'zstd',
      body: () => frame,
      expected: undecodable,
    }),
  ),

  // RFC 9309 §2.2, §2.3: bytes that are not UTF-8. NUL ends a line, as in Google's parser.
  ...(
    [
      ['our choice, a byte order mark is ignored', '\xef\xbb\xbf', disallowsPage, rulesHold],
      ['our choice, half a byte order mark is ignored', '\xef\xbb', disallowsPage, rulesHold],
      ['our choice, a byte order mark twice hides the first line', '\xef\xbb\xbf\xef\xbb\xbf', disallowsPage, noRules],
      ['our choice, bytes that are not UTF-8 in a comment', '# caf\xe9 \xff\xfe\n', disallowsPage, rulesHold],
      [
        'our choice, NUL ends a line, and the rest of the line is ignored',
        '',
        'User-agent: *\nDisallow: /page\0/one\n',
        rulesHold,
      ],
      ['our choice, a line of NULs', `${'\0'.repeat(1000)}\n`, disallowsPage, rulesHold],
      ['our choice, CR ends a line', '', disallowsPage.replaceAll('\n', '\r'), rulesHold],
      ['our choice, the last line has no line end', '', disallowsPage.trimEnd(), rulesHold],
    ] as const
  ).map(
    ([name, beginning, rest, expected]): BodyCase => ({
      name,
      body: () => Buffer.from(beginning + rest, 'latin1'),
      expected,
    }),
  ),
  ...(
    [
      ['little endian', Buffer.from(disallowsPage, 'utf16le')],
      ['little endian with a byte order mark', Buffer.from(`\ufeff${disallowsPage}`, 'utf16le')],
      ['big endian', Buffer.from(disallowsPage, 'utf16le').swap16()],
      ['big endian with a byte order mark', Buffer.from(`\ufeff${disallowsPage}`, 'utf16le').swap16()],
    ] as const
  ).map(
    ([order, bytes]): BodyCase => ({
      name: `RFC 9309 §2.3, robots.txt is UTF-8, so UTF-16 has no rules: ${order}`,
      body: () => bytes,
      expected: noRules,
    }),
  ),
  {
    name: 'our choice, 512 KiB of NULs are cut at the size limit',
    body: () => Buffer.concat([plain, Buffer.alloc(2 ** 19)]),
    expected: { ...rulesHold, truncated: true },
  },

  // RFC 9309 §2.5: the size limit.
  {
    name: 'RFC 9309 §2.5, a file of exactly the limit is read completely',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9309 §2.5, one byte over the limit: the complete lines before it apply',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n#'),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'our choice, one byte over the limit: the cut line is ignored',
    body: () => padded(EVERYONE, bodyLimit - 15, 'Disallow: /page\n'),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a cut Disallow does not disallow more than the whole line',
    body: () => padded(EVERYONE, bodyLimit - afterPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a cut Allow does not allow more than the whole line',
    body: () => padded(`${EVERYONE}Disallow: /\n`, bodyLimit - afterPage(ALLOWS_IF_CUT), ALLOWS_IF_CUT),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'our choice, a cut Disallow in a file with CR line ends',
    body: () =>
      padded('User-agent: *\r', bodyLimit - afterPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT.replace('\n', '\r'), '\r'),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a cut Disallow after gzip, since the limit counts decoded bytes',
    contentEncoding: 'gzip',
    body: () => gzipSync(padded(EVERYONE, bodyLimit - afterPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT)),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a line over the limit without a line end names a group',
    body: () => Buffer.from(`User-agent: * ${'x'.repeat(bodyLimit)}`),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: the rules before the limit apply',
    body: () => padded(disallowsPage, 5 * 1024 * 1024),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: the rules after the limit do not apply',
    body: () => padded(EVERYONE, 5 * 1024 * 1024, 'Disallow: /page\n'),
    expected: { ...noneMatches, truncated: true },
  },

  // Decompression bombs.
  ...(
    [
      ['gzip', (bytes: Buffer) => gzipSync(bytes, QUICKLY)],
      ['deflate', (bytes: Buffer) => deflateSync(bytes, QUICKLY)],
      ['br', (bytes: Buffer) => brotliCompressSync(bytes, QUICKLY)],
      ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
      ['gzip, gzip', (bytes: Buffer) => gzipSync(gzipSync(bytes, QUICKLY))],
      ['gzip, br', (bytes: Buffer) => brotliCompressSync(gzipSync(bytes, QUICKLY))],
    ] as const
  ).map(
    ([contentEncoding, compress]): BodyCase => ({
      name: `our choice, a decompression bomb is decompressed up to the limit: ${contentEncoding}`,
      contentEncoding,
      body: () => compress(bomb()),
      expected: { ...rulesHold, truncated: true },
    }),
  ),
  ...(
    [
      ['deflate, br', deflateSync('').subarray(0, 2), '000000ffff'], // RFC 1951 §3.2.4
      ['gzip, br', gzipSync('').subarray(0, 10), '000000ffff'],
      ['zstd, br', zstdHeader, '000000'.repeat(2)],
    ] as const
  ).map(
    ([contentEncoding, header, block]): BodyCase => ({
      name: `our choice, a decompression bomb that decodes to nothing is decompressed up to a limit: ${contentEncoding}`,
      contentEncoding,
      body: () => brotliCompressSync(emptyBlocks(header, block), QUICKLY),
      expected: { ...undecodable, reason: 'too-large' },
    }),
  ),
]
