// The guides in the package `politely`, for readers in an editor and for assistants. They are copied from
// docs/ when the package is packed.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** What a user needs while writing a crawler, in the order of reading. Options are in the types already. */
const GUIDES = [
  'getting-started',
  'polite-fetch',
  'verdicts',
  'waiting',
  'pace-options',
  'testing',
  'production',
  'troubleshooting',
  'reference/errors',
].map((name) => `docs/${name}.md`)

/** Writes the guides into `docs` of a package, with an index. @param repository The address of the repository. */
export function copyGuides(folder, repository) {
  rmSync(join(folder, 'docs'), { recursive: true, force: true })
  const titles = GUIDES.map((file) => {
    const text = readFileSync(file, 'utf8')
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), withLinks(text, file, repository))
    return `- [${/^# (?:Reference: )?(.+)/.exec(text)?.[1]}](${posix.relative('docs', file)})`
  })
  const index = `# Guides\n\n${titles.join('\n')}\n\nAll pages: ${repository}/tree/main/docs\n`
  writeFileSync(join(folder, 'docs/README.md'), index)
}

/** Lets links to files that are not in the package lead to the repository. */
export function withLinks(text, file, repository) {
  let isCode = false
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('```')) isCode = !isCode
    if (isCode) return line
    return line.replace(/\]\((?![\w+.-]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (link, path, hash = '') => {
      const target = posix.normalize(posix.join(posix.dirname(file), path))
      return GUIDES.includes(target) ? link : `](${repository}/blob/main/${target}${hash})`
    })
  })
  return lines.join('\n')
}
