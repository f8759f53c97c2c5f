// The parts of the README and of docs/comparison.md that the start page shows, so that they are written
// once.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createSatteriMarkdownProcessor } from '@astrojs/markdown-satteri'
import { documentLinks } from '../docs/links.ts'
import { ROOT } from '../docs/repository.ts'
import { tables } from '../docs/tables.ts'

const FILE = join(ROOT, 'README.md')
const text = readFileSync(FILE, 'utf8')

/** The three things that Politely does: what, and the rest of the sentence. */
export const reasons: readonly { readonly what: string; readonly rest: string }[] = Array.from(
  text.matchAll(/^- \*\*(.+?)\*\* ?(.+)$/gm),
  ([, what = '', rest = '']) => ({ what, rest }),
)

/** The question that Politely answers. */
export const [, question = ''] = /^\*(.+)\*$/m.exec(text) ?? []

/** The example of a polite fetch. Tests run it. */
export const fetchExample: string =
  Array.from(text.matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, code = '']) => code.trimEnd()).find((code) =>
    code.includes('politely('),
  ) ?? ''

/** How many kinds of mistakes lint finds. */
export const [, lintKinds = ''] = /finds (\d+) kinds of mistakes/.exec(text) ?? []

/** Returns the comparison with other libraries as HTML, without its heading. */
export async function comparison(): Promise<string> {
  const [, markdown] = readFileSync(join(ROOT, 'docs/comparison.md'), 'utf8').split('\n## Comparison\n')
  if (markdown === undefined) throw new Error('docs/comparison.md has no heading "Comparison"')
  const processor = await createSatteriMarkdownProcessor({ mdastPlugins: [documentLinks], hastPlugins: [tables] })
  // The start page is not in docs/, so links are relative to the root, as in the README.
  const fromRoot = markdown.split('\n## ')[0]?.replace(/\]\((?![\w+.-]+:|#)/g, '](docs/') ?? ''
  const { code } = await processor.render(fromRoot, { fileURL: pathToFileURL(FILE) })
  return code
}

if (reasons.length !== 3 || question === '' || fetchExample === '' || lintKinds === '')
  throw new Error(
    'README.md has lost its question, its three reasons, its polite fetch or its number of lint kinds, which the start page shows',
  )
