// The file of `politely match --output`, and how far an interrupted run has come in it.

import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync, truncateSync, type WriteStream } from 'node:fs'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { write } from '../../output/write.ts'

/** Where the verdicts go: a file or stdout. */
export interface VerdictOutput {
  /** How many verdicts an earlier run has written. */
  readonly done: number
  write(text: string): Promise<void>
  close(): Promise<void>
}

const STDOUT: VerdictOutput = { done: 0, write, close: async () => undefined }

/** @throws {UsageError} if the file exists and `--resume` is not given, or cannot be written. */
export async function openOutput(args: Arguments, header: string): Promise<VerdictOutput> {
  const file = args.get('output')
  const isResumed = args.has('resume')
  if (file === undefined) {
    if (isResumed) throw new UsageError('--resume: needs the file of the last run; write --output FILE --resume')
    await write(header)
    return STDOUT
  }
  const isThere = existsSync(file)
  if (isThere && !isResumed) {
    const given = JSON.stringify(file)
    throw new UsageError(`--output: ${given} exists; write --resume to go on with it, or the name of a new file`)
  }
  const lines = isThere ? await wholeLines(file) : 0
  const stream = createWriteStream(file, { flags: 'a' })
  await opened(stream, file)
  if (lines === 0) await writeTo(stream, header)
  return {
    done: lines === 0 || header === '' ? lines : lines - 1,
    write: (text) => writeTo(stream, text),
    async close() {
      stream.end()
      await once(stream, 'close')
    },
  }
}

async function opened(stream: WriteStream, file: string): Promise<void> {
  try {
    await once(stream, 'open')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--output: ${JSON.stringify(file)} cannot be written (${code}); write another name`)
  }
}

async function writeTo(stream: WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

/** Counts the whole lines of a file, and cuts off a last line without an end. */
async function wholeLines(file: string): Promise<number> {
  let lines = 0
  let [read, end] = [0, 0]
  for await (const chunk of createReadStream(file) as AsyncIterable<Uint8Array>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) {
      lines++
      end = read + at + 1
    }
    read += chunk.length
  }
  if (end < read) truncateSync(file, end)
  return lines
}
