// Bodies of robots.txt as servers send them: coded, over-long, broken.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { forbidsPage } from './reply-rows.ts'

export interface BodyRow {
  /** The standard's section, or that it is our choice. */
  readonly name: string
  readonly contentEncoding?: string
  /** Made when it is needed: some are large. */
  readonly body: () => Uint8Array
  /** The verdict on `/page` and whether the file was cut, or that there is none to be had. */
  readonly expected: { readonly allowed: boolean; readonly because: string; readonly truncated: boolean } | 'malformed'
}

/** The default and least of what is read, in octets. RFC 9309 §2.5. */
export const bodyLimit: number = 500 * 1024

const rulesHold = { allowed: false, because: 'rule', truncated: false }
const noRules = { allowed: true, because: 'no-group', truncated: false }

/** `beginning` and comment lines up to `length` octets in all, then `end`. */
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
/** Changes one octet, counted from the end. */
function damaged(octets: Buffer, fromEnd: number): Buffer {
  const copy = Buffer.from(octets)
  copy.writeUInt8(copy.readUInt8(copy.length - fromEnd) ^ 0xff, copy.length - fromEnd)
  return copy
}

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
    expected: 'malformed',
  },
  { name: 'RFC 7932, br', contentEncoding: 'br', body: () => brotliCompressSync(plain), expected: rulesHold },
  {
    name: 'our choice, zstd is not understood',
    contentEncoding: 'zstd',
    body: () => zstdCompressSync(plain),
    expected: 'malformed',
  },
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
    name: 'our choice, gzip of nothing at all is an empty file',
    contentEncoding: 'gzip',
    body: () => Buffer.alloc(0),
    expected: noRules,
  },

  // RFC 9309 §2.3.1.4: what does not decode is no file.
  {
    name: 'our choice, three codings are one too many',
    contentEncoding: 'gzip, gzip, gzip',
    body: () => gzipSync(gzipSync(gzipped)),
    expected: 'malformed',
  },
  ...['compress', 'utf-8', '__proto__', 'gzip, compress'].map(
    (contentEncoding): BodyRow => ({
      name: `our choice, a coding that is not known: ${contentEncoding}`,
      contentEncoding,
      body: () => plain,
      expected: 'malformed',
    }),
  ),
  ...['gzip', 'deflate', 'br'].map(
    (contentEncoding): BodyRow => ({
      name: `our choice, said to be ${contentEncoding} and is not`,
      contentEncoding,
      body: () => plain,
      expected: 'malformed',
    }),
  ),
  {
    name: 'our choice, gzip with a wrong checksum',
    contentEncoding: 'gzip',
    body: () => damaged(gzipped, 6),
    expected: 'malformed',
  },
  {
    name: 'our choice, gzip with damage in the middle',
    contentEncoding: 'gzip',
    body: () => damaged(gzipped, gzipped.length - 16),
    expected: 'malformed',
  },
  {
    name: 'our choice, gzip that ends early',
    contentEncoding: 'gzip',
    body: () => gzipped.subarray(0, -4),
    expected: 'malformed',
  },
  {
    name: 'our choice, br that ends early',
    contentEncoding: 'br',
    body: () => brotliCompressSync(plain).subarray(0, -4),
    expected: 'malformed',
  },

  // RFC 9309 §2.5: the limit.
  {
    name: 'RFC 9309 §2.5, exactly the limit is read whole',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9309 §2.5, one octet over the limit: what is whole before it holds',
    body: () => padded(EVERYONE, bodyLimit - 16, 'Disallow: /page\n#'),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'our choice, one octet over the limit: the line that is cut is dropped',
    body: () => padded(EVERYONE, bodyLimit - 15, 'Disallow: /page\n'),
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
  },
  {
    name: 'our choice, a cut Disallow must not forbid more than it says',
    body: () => padded(EVERYONE, bodyLimit - behindPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT),
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
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
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
  },
  {
    name: 'our choice, the same after gzip: the limit counts decoded octets',
    contentEncoding: 'gzip',
    body: () => gzipSync(padded(EVERYONE, bodyLimit - behindPage(FORBIDS_IF_CUT), FORBIDS_IF_CUT)),
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
  },
  {
    name: 'our choice, over the limit without any line end: one line, and it names a group',
    body: () => Buffer.from(`User-agent: * ${'x'.repeat(bodyLimit)}`),
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: what stands before the limit holds',
    body: () => padded(forbidsPage, 5 * 1024 * 1024),
    expected: { ...rulesHold, truncated: true },
  },
  {
    name: 'RFC 9309 §2.5, 5 MiB: what stands behind the limit does not',
    body: () => padded(EVERYONE, 5 * 1024 * 1024, 'Disallow: /page\n'),
    expected: { allowed: true, because: 'no-rule-matched', truncated: true },
  },

  // Bombs.
  ...(
    [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', (octets: Buffer) => brotliCompressSync(octets, { params: { 1: 5 } })], // 1: the quality
      ['gzip, gzip', (octets: Buffer) => gzipSync(gzipSync(octets))],
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
