// Where a reading was interrupted. Tokens and earlier results come from outside of the process, so they
// are checked like any other argument.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'

/**
 * A file that waits. JSON-safe.
 * @inline
 */
export interface Task {
  readonly url: string
  readonly depth: number
  readonly parent?: string
  /** The URL with a public host that led to the file. It decides which hosts the file may name. */
  readonly from?: string
  /** The number of entries that an earlier reading has yielded already. */
  readonly skip?: number
}

/**
 * Where a reading was interrupted. JSON-safe: keep it in a file, and give it to a later reading as
 * `resume`.
 */
export interface ResumeToken {
  readonly version: 1
  /** The files that wait, in order. The first file may be read in part: `skip` counts its entries. */
  readonly queue: readonly Task[]
  /** The files that were read. */
  readonly read: readonly string[]
}

/** @throws {OptionError} for a value that is not a token, or that has more files than the limit. */
export function checkedToken(token: unknown, maxFiles: number): ResumeToken {
  const { version, queue, read } = Object(token) as Partial<ResumeToken>
  if (version !== 1 || !Array.isArray(queue) || !Array.isArray(read))
    throw new OptionError(
      'resume',
      `${describeValue(token)} is not a token of this version; write the token() of an earlier reading`,
    )
  if (queue.length > maxFiles)
    throw new OptionError(
      'resume.queue',
      `has ${queue.length} files, more than limits.maxFiles (${maxFiles}); raise limits.maxFiles`,
    )
  queue.forEach((task, index) => {
    assertTask(`resume.queue[${index}]`, task)
  })
  read.forEach((url, index) => {
    assertUrl(`resume.read[${index}]`, url)
  })
  return { version, queue, read }
}

/** @throws {OptionError} for a value that is not a file to read, or the result of one. */
export function assertTask(option: string, task: unknown): void {
  const { url, depth, parent, from, skip } = Object(task) as Partial<Task>
  assertUrl(`${option}.url`, url)
  for (const [name, value] of Object.entries({ parent, from }))
    if (value !== undefined) assertUrl(`${option}.${name}`, value)
  for (const [name, value] of Object.entries({ depth, skip: skip ?? 0 }))
    if (!Number.isSafeInteger(value) || (value as number) < 0)
      throw new OptionError(`${option}.${name}`, `${describeValue(value)} is not a whole number from 0`)
}

function assertUrl(option: string, url: unknown): void {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new OptionError(option, `${describeValue(url)} is not an http or https URL`)
}
