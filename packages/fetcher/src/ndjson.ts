// Lines out of chunks of text, for files of one JSON value on each line.

/** The longest line that is read: an entry with 500 KiB of robots.txt, each octet of which may take six characters in JSON. */
const MAX_LINE = 4 * 1024 * 1024

/** The lines of a text that comes in pieces, without their ends; undefined for one that is too long to be read. Empty ones are left out. */
export async function* linesIn(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let isTooLong = false
  for await (const chunk of chunks) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      if (isTooLong) yield undefined
      else if (line.trim() !== '') yield line
      isTooLong = false
    }
    if (rest.length > MAX_LINE) {
      isTooLong = true
      rest = ''
    }
  }
  if (isTooLong) yield undefined
  else if (rest.trim() !== '') yield rest
}
