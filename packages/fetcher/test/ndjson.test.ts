// Splits chunks of text into lines. Our choice.
import { expect, test } from 'vitest'
import { linesIn } from '../src/base/ndjson.ts'

async function linesOf(pieces: readonly (string | Uint8Array)[], longest = 10): Promise<(string | undefined)[]> {
  const lines = []
  for await (const line of linesIn(pieces, longest)) lines.push(line)
  return lines
}

test.each([
  ['nothing', [], []],
  ['a line without a line end', ['abc'], ['abc']],
  ['several lines in one chunk', ['a\nb\n\nc\n'], ['a', 'b', 'c']],
  ['CRLF, and white space around a line', ['a b\r\n c \r\n\r\nd\r'], ['a b', 'c', 'd']],
  ['a line end alone in a chunk', ['a', '\n', 'b', '\n'], ['a', 'b']],
  ['a line of exactly the limit', ['1234567890\nx'], ['1234567890', 'x']],
  ['a line over the limit in one chunk', ['a\n12345678901\nb'], ['a', undefined, 'b']],
  ['a line over the limit in several chunks', ['a\n1234', '5678', '901', '2', '\nb'], ['a', undefined, 'b']],
  ['a line over the limit at the end', ['12345678', '901'], [undefined]],
  ['two lines over the limit', [`${'x'.repeat(11)}\n${'y'.repeat(11)}\n`], [undefined, undefined]],
  ['a blank line over the limit', [`${' '.repeat(11)}\n`], [undefined]],
  ['a character split between two chunks', [Uint8Array.of(0xc3), Uint8Array.of(0xbc, 0x0a)], ['\u00fc']],
  ['a truncated character at the end', ['a\n', Uint8Array.of(0xc3)], ['a', '\ufffd']],
  ['strings and bytes mixed', ['a', Uint8Array.of(0x62, 0x0a), 'c'], ['ab', 'c']],
])('%s', async (_, pieces, lines) => {
  expect(await linesOf(pieces as (string | Uint8Array)[])).toEqual(lines)
})

test('a long line in a million chunks', async () => {
  const piece = Uint8Array.of(0x78)
  const pieces = Array.from({ length: 100_000 }, () => piece)
  expect((await linesOf(pieces, 100_000))[0]).toHaveLength(100_000)
})
