// `politely match`: checks any number of URLs against one robots.txt file. Makes no requests.
import { parseRobots, type RulesVerdict } from '@politely/core'
import { withoutCredentials } from '@politely/core/engine'
import type { Arguments } from '../../command-line.ts'
import { readerOf } from '../../crawler.ts'
import { errorLine } from '../../describe-error.ts'
import { EXITS } from '../../exit-code.ts'
import { dialectOf } from '../../flags.ts'
import { isFile } from '../../input/is-file.ts'
import { isTooLong, readLines, TOO_LONG_VERDICT } from '../../input/read-lines.ts'
import { readRobotsFile, requiredRobots } from '../../input/robots-file.ts'
import { shorten } from '../../output/shorten.ts'
import { jsonLine, write } from '../../output/write.ts'

/**
 * Prints one JSON verdict for each line of stdin. Reads a chunk at a time and waits until its
 * verdicts are written, so that memory stays bounded.
 */
export async function match(args: Arguments): Promise<number> {
  const { productTokens, dialect } = readerOf(args, dialectOf(args))
  const file = await readRobotsFile(requiredRobots(args, 'politely match --robots robots.txt < urls.txt'))
  const rules = parseRobots(file, { dialect, origin: args.get('origin') }).forCrawler(productTokens)
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
  return EXITS.success.code
}
