// Lines out of pieces of text. Our choice.
import { expect, test } from 'vitest'
import { linesIn } from '../src/ndjson.ts'

async function linesOf(pieces: readonly (string | Uint8Array)[], longest = 10): Promise<(string | undefined)[]> {
  const lines = []
  for await (const line of linesIn(pieces, longest)) lines.push(line)
  return lines
}

test.each([
  ['nothing', [], []],
  ['one without an end', ['abc'], ['abc']],
  ['in one piece', ['a\nb\n\nc\n'], ['a', 'b', 'c']],
  ['an end alone in a piece', ['a', '\n', 'b', '\n'], ['a', 'b']],
  ['as long as may be', ['1234567890\nx'], ['1234567890', 'x']],
  ['one longer, in one piece', ['a\n12345678901\nb'], ['a', undefined, 'b']],
  ['one longer, in many', ['a\n1234', '5678', '901', '2', '\nb'], ['a', undefined, 'b']],
  ['one longer, at the end', ['12345678', '901'], [undefined]],
  ['two longer', [`${'x'.repeat(11)}\n${'y'.repeat(11)}\n`], [undefined, undefined]],
  ['blank and longer', [`${' '.repeat(11)}\n`], [undefined]],
  ['a character cut in two', [Uint8Array.of(0xc3), Uint8Array.of(0xbc, 0x0a)], ['\u00fc']],
  ['a character cut off', ['a\n', Uint8Array.of(0xc3)], ['a', '\ufffd']],
  ['text and bytes by turns', ['a', Uint8Array.of(0x62, 0x0a), 'c'], ['ab', 'c']],
])('%s', async (_, pieces, lines) => {
  expect(await linesOf(pieces as (string | Uint8Array)[])).toEqual(lines)
})

test('a long line in a million pieces', async () => {
  const piece = Uint8Array.of(0x78)
  const pieces = Array.from({ length: 1_000_000 }, () => piece)
  expect((await linesOf(pieces, 1_000_000))[0]).toHaveLength(1_000_000)
})
