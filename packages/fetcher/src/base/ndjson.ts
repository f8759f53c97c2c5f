// Splits chunks of text into lines, for files with one JSON value on each line.
import { OptionError } from '@politely/core'
import { describeValue } from './option-checks.ts'

/**
 * Yields the lines of a text that comes in chunks, without line ends and the white space around
 * them. Yields undefined for a line over `maxLength`. Skips empty lines.
 * @throws {OptionError} for a chunk that is neither text nor bytes.
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
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))
      throw new OptionError('chunks', `${describeValue(chunk)} is in it; expected strings or Uint8Arrays`)
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
