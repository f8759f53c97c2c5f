// Splits chunks of text into lines, for files with one JSON value on each line.

/**
 * Yields the lines of a text that comes in chunks, without line ends and the white space around them. Yields undefined for a line over
 * `maxLength`. Skips empty lines.
 */
export async function* linesIn(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  maxLength: number,
): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder()
  let line = ''
  let isTooLong = false
  const append = (piece: string) => {
    isTooLong ||= line.length + piece.length > maxLength
    line = isTooLong ? '' : line + piece
  }
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      append(text.slice(start, end))
      if (isTooLong) yield undefined
      else if (line.trim() !== '') yield line.trim()
      line = ''
      isTooLong = false
      start = end + 1
    }
    append(text.slice(start))
  }
  append(decoder.decode())
  if (isTooLong) yield undefined
  else if (line.trim() !== '') yield line.trim()
}
