// Writes the body of a page: to a file, to stdout, or as text for a terminal.
import { Readable } from 'node:stream'
import { escapeControls } from '@politely/core/internal'
import { replaceFile } from './file.ts'
import { write } from './write.ts'

interface PageOutput {
  /** The value of `--output`. Undefined: stdout. */
  readonly file: string | undefined
  /** Text before the body. */
  readonly head?: string
  /** Called for each chunk. */
  readonly count?: (chunk: Uint8Array) => void
}

/** @throws {UnprintableError} if stdout is a terminal, and the page is not text. */
export async function writePage(response: Response, { file, head = '', count }: PageOutput): Promise<void> {
  const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never)
  async function* chunks(): AsyncGenerator<Uint8Array | string> {
    if (head !== '') yield head
    for await (const chunk of body) {
      count?.(chunk)
      yield chunk
    }
  }
  if (file !== undefined) return replaceFile('output', file, chunks())
  if (!process.stdout.isTTY) {
    for await (const chunk of chunks()) await write(chunk)
    return
  }
  const type = response.headers.get('content-type') ?? ''
  if (!/^text\/|json|xml|javascript/i.test(type) && type !== '') {
    body.destroy()
    throw new UnprintableError(type)
  }
  // A page could move the cursor of a terminal, or write over other lines.
  const decoder = new TextDecoder()
  for await (const chunk of chunks())
    await write(forTerminal(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })))
  await write(`${forTerminal(decoder.decode())}\n`)
}

export class UnprintableError extends Error {
  constructor(type: string) {
    super(`the page is ${JSON.stringify(type)}, which a terminal cannot show; write --output FILE, or > FILE`)
  }
}

/** Escapes control characters, except line ends and tabs. */
function forTerminal(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : escapeControls(part)))
    .join('')
}
