// Bodies of robots.txt as servers send them: coded, over-long, broken.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { seededRandom } from './random-robots.ts'
import { forbidsPage, type Meaning } from './response-cases.ts'

export interface BodyRow {
  /** The standard's section, or that it is our choice. */
  readonly name: string
  readonly contentEncoding?: string
  /** Made when it is needed: some are large. */
  readonly body: () => Uint8Array
  readonly expected: BodyExpectation
}

export interface BodyExpectation extends Meaning {
  /** Whether the limit cut the file; undefined where there is none to be had. */
  readonly truncated: boolean | undefined
}

/** The default and least of what is read, in bytes. RFC 9309 §2.5. */
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

/** `beginning` and comment lines up to `length` bytes in all, then `end`. */
function padded(beginning: string, length: number, end = '', lineEnd = '\n'): Buffer {
  const gap = length - beginning.length
  const lines = `${'#'.repeat(99)}${lineEnd}`.repeat(Math.ceil(gap / 100))
  return Buffer.from(beginning + lines.slice(lines.length - gap) + end)
}

const EVERYONE = 'User-agent: *\n'
/** A rule that is none of `/page`, until it is cut off behind `/page`. */
const FORBIDS_IF_CUT = 'Disallow: /page-of-another-kind\n'
const ALLOWS_IF_CUT = 'Allow: /page-of-another-kind\n'
const behindPage = (rule: string) => rule.indexOf('/page') + '/page'.length

const plain = Buffer.from(forbidsPage)
const gzipped = gzipSync(plain)
/** What nothing can compress, always the same. */
function randomBytes(length: number): Buffer {
  const roll = seededRandom(1)
  return Buffer.from(Array.from({ length }, () => 128 + Math.floor(roll() * 128)))
}
/** Magic number, no flags, a window of 1 KiB. RFC 8878 §3.1.1.1. */
const zstdHeader = Buffer.from('28b52ffd0000', 'hex')
/** RFC 8878 §3.1.1.2. */
function zstdBlock(type: 'raw' | 'run', bytes: Uint8Array | string, size = bytes.length, place = 'inner'): Buffer {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type === 'run' ? 2 : 0) | (place === 'last' ? 1 : 0), 0, 3)
  return Buffer.concat([header, Buffer.from(bytes)])
}
/** Changes one byte, counted from the end. */
function damaged(bytes: Buffer, fromEnd: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(copy.length - fromEnd) ^ 0xff, copy.length - fromEnd)
  return copy
}

const zstd = zstdCompressSync(plain)
/** Frames of every make: what a compressor writes, and by hand one with all fields of the header and both kinds of plain block. */
const zstdFrames = [
  ['a frame', zstd],
  ['with a checksum', zstdCompressSync(plain, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  ['without its size', zstdCompressSync(plain, { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } })],
  ['in two blocks', zstdCompressSync(Buffer.from(forbidsPage + '# dull\n'.repeat(30_000)))],
  ['of incompressible bytes', zstdCompressSync(Buffer.concat([plain, randomBytes(300_000)]))],
  ['with a run', Buffer.concat([zstdHeader, zstdBlock('raw', plain), zstdBlock('run', '#', 99, 'last')])],
  ['with an empty last block', Buffer.concat([zstdHeader, zstdBlock('raw', plain), zstdBlock('raw', '', 0, 'last')])],
] as const

/** 8 MiB, out of a few KiB. */
const bomb = () => padded(forbidsPage, 8 * 1024 * 1024)

export const bodyRows: readonly BodyRow[] = [
  // RFC 9110 §8.4.1: content codings.
  { name: 'RFC 9110 §8.4.1, gzip', contentEncoding: 'gzip', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, x-gzip', contentEncoding: 'x-gzip', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, in upper case', contentEncoding: 'GZIP', body: () => gzipped, expected: rulesHold },
  { name: 'RFC 9110 §8.4.1, deflate', contentEncoding: 'deflate', body: () => deflateSync(plain), expected: rulesHold },
  {
    name: 'our choice, deflate without its zlib header, which nobody asked for',
    contentEncoding: 'deflate',
    body: () => deflateRawSync(plain),
    expected: undecodable,
  },
  { name: 'RFC 7932, br', contentEncoding: 'br', body: () => brotliCompressSync(plain), expected: rulesHold },
  ...zstdFrames.map(
    ([name, frame]): BodyRow => ({
      name: `RFC 8878 §3.1.1, zstd that nobody asked for: ${name}`,
      contentEncoding: 'zstd',
      body: () => frame,
      expected: rulesHold,
    }),
  ),
  { name: 'our choice, identity is no coding', contentEncoding: 'identity', body: () => plain, expected: rulesHold },
  {
    name: 'our choice, an empty Content-Encoding is none',
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
    name: 'RFC 9110 §8.4, the last coding comes off first',
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
    name: 'our choice, gzip with zeros behind it',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, Buffer.alloc(16)]),
    expected: rulesHold,
  },
  ...['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip'].map(
    (contentEncoding): BodyRow => ({
      name: `our choice, ${contentEncoding} of nothing at all is an empty file`,
      contentEncoding,
      body: () => Buffer.alloc(0),
      expected: noRules,
    }),
  ),

  // RFC 9309 §2.3.1.4: what does not decode is no file.
  {
    name: 'our choice, three codings are one too many',
    contentEncoding: 'gzip, gzip, gzip',
    body: () => gzipSync(gzipSync(gzipped)),
    expected: undecodable,
  },
  ...['compress', 'utf-8', 'none', 'gzip;q=1', '__proto__', 'gzip, compress', 'chunked', 'aws-chunked'].map(
    (contentEncoding): BodyRow => ({
      name: `our choice, a coding that is not known: "${contentEncoding}"`,
      contentEncoding,
      body: () => plain,
      expected: undecodable,
    }),
  ),
  ...['gzip', 'deflate', 'br', 'zstd'].map(
    (contentEncoding): BodyRow => ({
      name: `our choice, said to be ${contentEncoding} and is not`,
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
    name: 'our choice, gzip with damage in the middle',
    contentEncoding: 'gzip',
    body: () => damaged(gzipped, gzipped.length - 16),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip with garbage behind it',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, plain]),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip in two members, the second one cut short',
    contentEncoding: 'gzip',
    body: () => Buffer.concat([gzipped, gzipped.subarray(0, -4)]),
    expected: undecodable,
  },
  {
    name: 'our choice, gzip twice, the inner one cut short',
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
      ['ends early', bytes.subarray(0, -4)],
      ['ends an byte early', bytes.subarray(0, -1)],
      ['ends after an byte', bytes.subarray(0, 1)],
    ].map(
      ([how, body]): BodyRow => ({
        name: `our choice, ${contentEncoding} that ${how}`,
        contentEncoding,
        body: () => body as Buffer,
        expected: undecodable,
      }),
    ),
  ),
  ...zstdFrames.map(
    ([name, frame]): BodyRow => ({
      name: `our choice, zstd that ends early: ${name}`,
      contentEncoding: 'zstd',
      body: () => frame.subarray(0, -1),
      expected: undecodable,
    }),
  ),
  ...(
    [
      ['in two frames', Buffer.concat([zstd, zstd])],
      ['in two frames, the second one cut short', Buffer.concat([zstd, zstd.subarray(0, -9)])],
      ['with garbage behind it', Buffer.concat([zstd, plain])],
      ['behind a frame to skip', Buffer.concat([Buffer.from('502a4d180100000000', 'hex'), zstd])],
      [
        'whose window is 1 GiB',
        Buffer.concat([Buffer.from('28b52ffd00a0', 'hex'), zstdBlock('raw', plain, 30, 'last')]),
      ],
      ['whose block is of no known type', Buffer.concat([zstdHeader, Buffer.from('070000', 'hex')])],
      ['without a last block', Buffer.concat([zstdHeader, zstdBlock('raw', plain)])],
    ] as const
  ).map(
    ([how, frame]): BodyRow => ({
      name: `our choice, zstd ${how}`,
      contentEncoding: 'zstd',
      body: () => frame,
      expected: undecodable,
    }),
  ),

  // RFC 9309 §2.2, §2.3: bytes that are no UTF-8. NUL ends a line, as in Google's reader.
  ...(
    [
      ['our choice, a byte order mark is passed over', '\xef\xbb\xbf', forbidsPage, rulesHold],
      ['our choice, half a byte order mark is passed over', '\xef\xbb', forbidsPage, rulesHold],
      ['our choice, a byte order mark twice hides the first line', '\xef\xbb\xbf\xef\xbb\xbf', forbidsPage, noRules],
      ['our choice, bytes that are no UTF-8 are a comment', '# caf\xe9 \xff\xfe\n', forbidsPage, rulesHold],
      [
        'our choice, NUL ends a line: what follows it is not read',
        '',
        'User-agent: *\nDisallow: /page\0/one\n',
        rulesHold,
      ],
      ['our choice, a line of NULs', `${'\0'.repeat(1000)}\n`, forbidsPage, rulesHold],
      ['our choice, CR ends a line', '', forbidsPage.replaceAll('\n', '\r'), rulesHold],
      ['our choice, the last line has no end', '', forbidsPage.trimEnd(), rulesHold],
    ] as const
  ).map(
    ([name, beginning, rest, expected]): BodyRow => ({
      name,
      body: () => Buffer.from(beginning + rest, 'latin1'),
      expected,
    }),
  ),
  ...(
    [
      ['little endian', Buffer.from(forbidsPage, 'utf16le')],
      ['little endian with a byte order mark', Buffer.from(`\ufeff${forbidsPage}`, 'utf16le')],
      ['big endian', Buffer.from(forbidsPage, 'utf16le').swap16()],
      ['big endian with a byte order mark', Buffer.from(`\ufeff${forbidsPage}`, 'utf16le').swap16()],
    ] as const
  ).map(
    ([order, bytes]): BodyRow => ({
      name: `RFC 9309 §2.3, robots.txt is UTF-8; UTF-16 has no rules: ${order}`,
      body: () => bytes,
      expected: noRules,
    }),
  ),
  {
    name: 'our choice, half a mebibyte of NULs is cut at the limit',
    body: () => Buffer.concat([plain, Buffer.alloc(2 ** 19)]),
    expected: { ...rulesHold, truncated: true },
  },

  // RFC 9309 §2.5: the limit.
  {
    name: 'RFC 9309 §2.5, exactly the limit is read whole',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9309 §2.5, one byte over the limit: what is whole before it holds',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n#'),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'our choice, one byte over the limit: the line that is cut is dropped',
    body: () => padded(EVERYONE, bodyLimit - 15, 'Disallow: /page\n'),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a cut Disallow must not forbid more than it says',
    body: () => padded(EVERYONE, bodyLimit - behindPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, a cut Allow must not allow more than it says',
    body: () => padded(`${EVERYONE}Disallow: /\n`, bodyLimit - behindPage(ALLOWS_IF_CUT), ALLOWS_IF_CUT),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'our choice, a cut Disallow of a file with CR for line ends',
    body: () =>
      padded('User-agent: *\r', bodyLimit - behindPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT.replace('\n', '\r'), '\r'),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, the same after gzip: the limit counts decoded bytes',
    contentEncoding: 'gzip',
    body: () => gzipSync(padded(EVERYONE, bodyLimit - behindPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT)),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'our choice, over the limit without any line end: one line, and it names a group',
    body: () => Buffer.from(`User-agent: * ${'x'.repeat(bodyLimit)}`),
    expected: { ...noneMatches, truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: what stands before the limit holds',
    body: () => padded(forbidsPage, 5 * 1024 * 1024),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: what stands behind the limit does not',
    body: () => padded(EVERYONE, 5 * 1024 * 1024, 'Disallow: /page\n'),
    expected: { ...noneMatches, truncated: true },
  },

  // Bombs.
  ...(
    [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 5 } })], // 1: the quality
      ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
      ['gzip, gzip', (bytes: Buffer) => gzipSync(gzipSync(bytes))],
      ['gzip, br', (bytes: Buffer) => brotliCompressSync(gzipSync(bytes))],
    ] as const
  ).map(
    ([contentEncoding, compress]): BodyRow => ({
      name: `our choice, a bomb is unpacked up to the limit: ${contentEncoding}`,
      contentEncoding,
      body: () => compress(bomb()),
      expected: { ...rulesHold, truncated: true },
    }),
  ),
]
