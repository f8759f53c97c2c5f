// Lines of stdin, a chunk at a time, in bounded memory. Not readline: it keeps a line of any length, and ends one at a
// lone CR and at U+2028 too.

/** Our choice; servers take far less. A longer line is cut right above this, and `isTooLong`. */
const MOST_CHARACTERS = 65_536

/** What to say of a line that is too long to be a URL: its end was not kept. */
export const TOO_LONG = { allowed: false, because: 'invalid-url', problem: 'malformed' } as const

export function isTooLong(line: string): boolean {
  return line.length > MOST_CHARACTERS
}

/** The lines of UTF-8 text as they come in. LF or CR LF ends one, the last one needs no end, and blank ones are left out. */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder() // drops a byte order mark
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, MOST_CHARACTERS + 2) // one too many, and a CR
    yield cleaned(lines)
  }
  yield cleaned([rest + decoder.decode()])
}

function cleaned(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (const line of lines) {
    const content = line.endsWith('\r') ? line.slice(0, -1) : line
    if (content.trim() !== '') kept.push(isTooLong(content) ? content.slice(0, MOST_CHARACTERS + 1) : content)
  }
  return kept
}
