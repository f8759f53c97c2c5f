// Lines out of chunks of text, for files of one JSON value on each line.

/** The lines of a text that comes in pieces, without their ends; undefined for one that is too long to be read. Empty ones are left out. */
export async function* linesIn(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  longest: number,
): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder()
  let line = ''
  let isTooLong = false
  const add = (piece: string) => {
    isTooLong ||= line.length + piece.length > longest
    line = isTooLong ? '' : line + piece
  }
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      add(text.slice(from, end))
      if (isTooLong) yield undefined
      else if (line.trim() !== '') yield line
      line = ''
      isTooLong = false
      from = end + 1
    }
    add(text.slice(from))
  }
  add(decoder.decode())
  if (isTooLong) yield undefined
  else if (line.trim() !== '') yield line
}
