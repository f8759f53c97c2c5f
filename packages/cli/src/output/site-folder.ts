// Writes files to publish into a folder, at the paths of their URLs, and their headers for static
// hosts.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import type { IdentityFiles } from '@politely/web-bot-auth/operator'
import { UsageError } from '../exit-code.ts'
import { replaceFile, writing } from './file.ts'

/** A file that was written, or that was kept because it differs from what would be written. */
export interface WrittenFile {
  readonly file: string
  readonly url?: string
  readonly isKept?: true
}

const FLAG = 'output'
const HEADERS = '_headers'
/** The first line of `_headers`. Another file of that name is not ours. */
const MARK = '# Written by politely'

/**
 * Writes each file below the folder. If they belong to several hosts, each host has a folder, which
 * later calls use too. Entries of `_headers` for other files stay.
 * @param editable The URL of a file that people edit. An edited file is kept, without `overwrite`.
 * The digest in `_headers` shows whether a file is as politely has written it.
 * @throws {UsageError} for a `_headers` file that politely did not write, and if the operating
 * system refuses.
 */
export async function writeSite(
  folder: string,
  files: IdentityFiles['files'],
  editable?: { readonly url: string; readonly overwrite: boolean },
): Promise<readonly WrittenFile[]> {
  const byHost = Map.groupBy(files, ({ url }) => new URL(url).host)
  const written: WrittenFile[] = []
  for (const [host, ofHost] of byHost) {
    // A port has a colon, which is not allowed in names of files everywhere.
    const ofItsOwn = join(folder, host.replace(':', '_').replace(/[[\]]/g, ''))
    const root = byHost.size > 1 || existsSync(join(ofItsOwn, HEADERS)) ? ofItsOwn : folder
    const headers = join(root, HEADERS)
    const before = existsSync(headers) ? readFileSync(headers, 'utf8') : undefined
    if (before !== undefined && !before.startsWith(MARK))
      throw new UsageError(
        `--output: ${JSON.stringify(headers)} exists and is not of politely; write another folder, and copy the lines`,
      )
    const digests: string[] = []
    for (const file of ofHost) {
      const path = join(root, ...new URL(file.url).pathname.split('/'))
      if (!resolve(path).startsWith(resolve(root) + sep))
        throw new UsageError(`--output: ${file.url} would be outside of the folder; write another URL`)
      if (resolve(path).toLowerCase() === resolve(headers).toLowerCase())
        throw new UsageError(`--output: ${file.url} would replace the headers; write another URL`)
      const isEditable = file.url === editable?.url
      const known = isEditable && existsSync(path) ? digestLine(file, readFileSync(path, 'utf8')) : undefined
      const digest = isEditable ? digestLine(file, file.body) : undefined
      const isKept = known !== undefined && known !== digest && !editable?.overwrite && !before?.includes(known)
      if (!isKept && digest !== undefined) digests.push(digest)
      if (!isKept) await put(path, file.body)
      written.push({ file: path, url: file.url, ...(isKept && { isKept }) })
    }
    await put(headers, headersText(before ?? `${MARK}: the headers of each path, for static hosts.`, ofHost, digests))
    written.push({ file: headers })
  }
  return written
}

async function put(path: string, text: string): Promise<void> {
  await writing(FLAG, dirname(path), () => mkdirSync(dirname(path), { recursive: true }))
  await replaceFile(FLAG, path, [text])
}

/** Returns the comment that says how a file was written. */
function digestLine({ url }: IdentityFiles['files'][number], body: string): string {
  return `# ${new URL(url).pathname} sha-256 ${createHash('sha256').update(body).digest('hex')}`
}

/** Matches the path of an entry, and `# /path` of a digest. */
const KEY = /^(?:# \S+(?= sha-256 )|\S+)/

/**
 * Replaces the entries and digests of these files, in the form that Cloudflare Pages and Netlify
 * read.
 */
function headersText(before: string, files: IdentityFiles['files'], digests: readonly string[]): string {
  const paths = files.map(({ url }) => new URL(url).pathname)
  const entries = files.map(({ headers }, i) =>
    [paths[i], ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)].join('\n'),
  )
  const next = new Map([...digests, ...entries].map((block) => [KEY.exec(block)?.[0], block]))
  const kept = before.split(/\r?\n(?=\S)/).flatMap((old) => {
    const key = KEY.exec(old)?.[0] ?? ''
    const block = next.get(key) ?? (paths.includes(key.replace('# ', '')) ? '' : old.trimEnd())
    next.delete(key)
    return block === '' ? [] : [block]
  })
  const [mark = '', ...others] = kept
  const added = [...next.values()]
  const isComment = (block: string) => block.startsWith('#')
  const blocks = [mark, ...added.filter(isComment), ...others, ...added.filter((block) => !isComment(block))]
  return `${blocks.map((block) => (isComment(block) ? block : `${block}\n`)).join('\n')}`
}
