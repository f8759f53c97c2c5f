// `politely match`: one robots.txt, URLs without end. Loads no network.
import { readFile } from 'node:fs/promises'
import { type DialectName, isProductToken, parseRobots, productTokenOf, type RulesVerdict } from '@politely/core'
import { UsageError } from './failure.ts'
import { isTooLong, linesOf, TOO_LONG } from './lines.ts'
import { write } from './output.ts'

export interface MatchOptions {
  readonly robots: string
  readonly agent: string
  readonly dialect: DialectName
  readonly origin?: string
}

/** A JSON verdict a line for each line of stdin, a chunk at a time: what is not yet asked or not yet read waits in the pipes. */
export async function match({ robots, agent, ...options }: MatchOptions): Promise<void> {
  const rules = parseRobots(await read(robots), options).forCrawler(tokenOf(agent))
  for await (const lines of linesOf(process.stdin)) {
    let answers = ''
    for (const url of lines) {
      const verdict: RulesVerdict = isTooLong(url) ? TOO_LONG : rules.check(url)
      answers += `${JSON.stringify({ url, ...verdict })}\n`
    }
    await write(answers)
  }
}

function tokenOf(agent: string): string {
  const token = isProductToken(agent) ? agent : productTokenOf(agent)
  if (token !== undefined) return token
  throw new UsageError(
    `--agent: no product token can be taken from ${JSON.stringify(agent)}; write a name such as ExampleBot`,
  )
}

const WHY_UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'it may not be read',
}

async function read(file: string): Promise<Uint8Array> {
  if (file === '-') throw new UsageError('--robots: stdin holds the URLs; write the name of a robots.txt file')
  try {
    return await readFile(file)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new UsageError(
      `--robots: ${JSON.stringify(file)}: ${WHY_UNREADABLE[code] ?? code}; write the name of a robots.txt file`,
    )
  }
}
