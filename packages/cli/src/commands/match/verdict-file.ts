// The file of `politely match --output`, and how far an interrupted run has come in it.
import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { writing } from '../../output/file.ts'
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
  const old = await writing('output', file, () => statSync(file, { throwIfNoEntry: false }))
  const isPipe = old !== undefined && !old.isFile() && !old.isDirectory() // or a device
  const given = `--output: ${JSON.stringify(file)}`
  if (isPipe && isResumed) throw new UsageError(`${given} keeps nothing, so it cannot be resumed; leave --resume out`)
  if (old?.isFile() && !isResumed)
    throw new UsageError(`${given} exists; write --resume to go on with it, or the name of a new file`)
  return writing('output', file, async () => {
    const handle = await open(file, isPipe ? 'w' : 'a+')
    const append = (text: string) => writing('output', file, () => handle.appendFile(text))
    const lines = old?.isFile() ? await wholeLines(handle) : 0
    if (lines === 0) await append(header)
    return {
      done: lines === 0 || header === '' ? lines : lines - 1,
      write: append,
      close: () => writing('output', file, () => handle.close()),
    }
  })
}

/** Counts the whole lines of a file, and cuts off a last line without an end. */
async function wholeLines(handle: FileHandle): Promise<number> {
  let lines = 0
  let [read, end] = [0, 0]
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Uint8Array>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) {
      lines++
      end = read + at + 1
    }
    read += chunk.length
  }
  if (end < read) await handle.truncate(end)
  return lines
}
