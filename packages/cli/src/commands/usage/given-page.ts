// What the command line gives in place of a page: its headers and its HTML.
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../exit-code.ts'
import { readText } from '../../input/robots-file.ts'
import { fileName } from '../../input/stdin.ts'

export interface GivenPage {
  /** One pair for each line. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly html?: Uint8Array
}

/**
 * Returns the headers and the HTML that the flags give; undefined without such a flag.
 * @throws {UsageError} for a file that cannot be read, and for a line that is not a header.
 */
export async function givenPageOf(args: Arguments): Promise<GivenPage | undefined> {
  const file = args.get('headers')
  const htmlFile = args.get('html')
  if (file === undefined && htmlFile === undefined && !args.has('header')) return undefined
  const inFile = file === undefined ? [] : headersIn(await read(file, '--headers'), `--headers: ${fileName(file)}`)
  const given = args.all('header').map((line) => headerOf(line, '--header'))
  const html = htmlFile === undefined ? undefined : await read(htmlFile, '--html')
  return { headers: [...inFile, ...given], ...(html && { html }) }
}

function read(file: string, flag: string): Promise<Uint8Array> {
  return readText(file, flag, 'write the name of a file, or - for stdin')
}

/**
 * Reads what `curl -I` prints. A line such as `HTTP/1.1 200 OK` begins a response, and the last
 * response is the page.
 */
function headersIn(bytes: Uint8Array, what: string): GivenPage['headers'] {
  const lines = Buffer.from(bytes).toString('latin1').split(/\r?\n/)
  const start = lines.findLastIndex((line) => /^HTTP\/\d/i.test(line))
  return lines.slice(start + 1).flatMap((line, i) => {
    return line.trim() === '' ? [] : [headerOf(line, `${what}, line ${start + i + 2}`)]
  })
}

function headerOf(line: string, what: string): GivenPage['headers'][number] {
  const [, name, value = ''] = /^([!#$%&'*+.^`|~\w-]+):(.*)$/.exec(line) ?? []
  if (name !== undefined) return [name, value.trim()]
  throw new UsageError(`${what}: ${JSON.stringify(line)} is not a header; write one such as "X-Robots-Tag: noindex"`)
}
