// `politely match`: checks any number of URLs against one robots.txt file. Makes no requests.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type DialectName, isProductToken, parseRobots, productTokenOf, type RulesVerdict } from '@politely/core'
import { describeValue, explainMissingToken, withoutCredentials } from '@politely/core/engine'
import { errorLine, UsageError } from './errors.ts'
import { isFile } from './is-file.ts'
import { jsonLine, write } from './output.ts'
import { isTooLong, readLines, TOO_LONG_VERDICT } from './read-lines.ts'
import { shorten } from './shorten.ts'

export interface MatchOptions {
  readonly robots: string
  readonly userAgent?: string
  readonly productToken?: string
  readonly dialect: DialectName
  readonly origin?: string
}

/**
 * Prints one JSON verdict for each line of stdin. Reads a chunk at a time and waits until its
 * verdicts are written, so that memory stays bounded.
 */
export async function match({ robots, userAgent, productToken, ...options }: MatchOptions): Promise<void> {
  const rules = parseRobots(await read(robots), options).forCrawler(tokenOf(userAgent, productToken))
  let isFirst = true
  for await (const lines of readLines(process.stdin)) {
    if (isFirst && lines.some((line) => /^user-agent\s*:/i.test(line)))
      process.stderr.write(errorLine('stdin looks like a robots.txt file; write --robots robots.txt < urls.txt'))
    const [line = ''] = lines
    if (isFirst && !line.startsWith('/') && isFile(line)) {
      const name = JSON.stringify(shorten(line))
      process.stderr.write(errorLine(`${name}: this is a file; to check the URLs in it, write < ${name}`))
    }
    isFirst = false
    let output = ''
    for (const url of lines) {
      const verdict: RulesVerdict = isTooLong(url) ? { ...TOO_LONG_VERDICT, url } : rules.check(url)
      output += jsonLine(Object.assign({ url }, verdict, { url: withoutCredentials(url) }))
    }
    await write(output)
  }
}

/** `politely check` gets these messages from the fetcher, which `match` does not load. */
function tokenOf(userAgent: string | undefined, productToken: string | undefined): string {
  if (productToken !== undefined) {
    if (isProductToken(productToken)) return productToken
    throw new UsageError(
      `--product-token: ${describeValue(productToken)} is not a product token; write letters, digits, "-" and "_", such as ExampleBot`,
    )
  }
  if (userAgent === undefined || userAgent.trim() === '') {
    throw new UsageError(
      '--user-agent: is missing or empty; write one such as "ExampleBot/1.0", or give --product-token',
    )
  }
  const token = productTokenOf(userAgent)
  if (token !== undefined) return token
  throw new UsageError(
    `--user-agent: ${explainMissingToken(userAgent)}; write the name to look for in robots.txt as --product-token, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0`,
  )
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission to read it was denied',
}

async function read(file: string): Promise<Uint8Array> {
  if (URL.canParse(file) && !existsSync(file)) {
    const given = JSON.stringify(withoutCredentials(file))
    throw new UsageError(`--robots: ${given} is a URL; write politely check URL, or the name of a robots.txt file`)
  }
  if (file === '-') throw new UsageError('--robots: stdin contains the URLs; write the name of a robots.txt file')
  try {
    return await readFile(file)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new UsageError(
      `--robots: ${JSON.stringify(withoutCredentials(file))}: ${READ_ERRORS[code] ?? code}; write the name of a robots.txt file`,
    )
  }
}
