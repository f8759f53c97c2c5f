// Reads the lines of stdin in bounded memory. Node's `readline` does not fit: it buffers lines of
// any length, and it also ends a line at a lone CR and at U+2028.

/**
 * Longer than every URL that core checks: a path of 65,536 characters, with its origin and
 * fragment. Longer lines are cut to one character more than this, so `isTooLong` recognizes them.
 */
const MAX_LINE_LENGTH = 2 ** 17

/** The verdict on a line that is too long. It cannot be checked, because its end was dropped. */
export const TOO_LONG_VERDICT = { allowed: false, because: 'invalid-url', problem: 'too-long' } as const

export function isTooLong(line: string): boolean {
  return line.length > MAX_LINE_LENGTH
}

/**
 * Yields the lines of UTF-8 text, one array for each chunk of input. LF or CR LF ends a line; the
 * last line needs no line end. Skips blank lines and a byte order mark.
 * @param maxLength Longer lines are cut to one character more.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  maxLength: number = MAX_LINE_LENGTH,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder() // removes a byte order mark
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, maxLength + 2) // one character too many, and a CR
    yield withoutLineEnds(lines, maxLength)
  }
  yield withoutLineEnds([rest + decoder.decode()], maxLength)
}

/** Removes CRs at line ends and blank lines, and cuts lines that are too long. */
function withoutLineEnds(lines: readonly string[], maxLength: number): readonly string[] {
  const kept: string[] = []
  for (const line of lines) {
    const content = line.endsWith('\r') ? line.slice(0, -1) : line
    if (content.trim() !== '') kept.push(content.length > maxLength ? content.slice(0, maxLength + 1) : content)
  }
  return kept
}
