// Loads the documentation of the repository as pages. The files have no front matter: the title of
// a page is its first heading.

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { glob, type Loader, type LoaderContext } from 'astro/loaders'
import { PATTERNS, pageOf } from './pages.ts'
import { pathOf, REPOSITORY, ROOT } from './repository.ts'

export function documents(): Loader {
  const files = glob({
    base: pathToFileURL(`${ROOT}/`),
    pattern: [...PATTERNS],
    generateId: ({ entry }) => pageOf(entry) ?? entry,
  })
  return {
    name: 'documents',
    load: (context) =>
      files.load({
        ...context,
        logger: failing(context.logger),
        parseData: (entry) => {
          const { filePath = '' } = entry
          const data = { ...entry.data, ...frontMatterOf(readFileSync(filePath, 'utf8'), pathOf(filePath)) }
          return context.parseData({ ...entry, data })
        },
      }),
  }
}

/** A page that cannot be rendered, because of a broken link for example, fails the build. Astro only prints it. */
function failing(logger: LoaderContext['logger']): LoaderContext['logger'] {
  const error = (message: string) => {
    throw new Error(message)
  }
  return Object.create(logger, { error: { value: error } })
}

/** Returns what other Starlight sites write above a page. */
function frontMatterOf(text: string, file: string): Record<string, unknown> {
  const [, title, rest] = /^# (.+)\n([\s\S]*)/.exec(text) ?? []
  if (title === undefined || rest === undefined)
    throw new Error(`${file} does not begin with a heading such as "# Waiting"`)
  const isApi = file.startsWith('docs/reference/api/')
  return {
    title: title.replace(/^Reference: (.)/, (_, first: string) => first.toUpperCase()),
    ...(isApi ? { description: `${title}: all exported names.` } : descriptionOf(rest)),
    // The names lead to guides and to the API; the list itself answers no question.
    pagefind: file !== 'docs/reference/public-names.md',
    editUrl: `${REPOSITORY}/edit/main/${file}`,
  }
}

/** Returns the first sentences of the first paragraph of prose, for search engines. */
function descriptionOf(text: string): { description?: string } {
  const [paragraph] = /^(?=[A-Za-z`[@])[^|].*(?:\n(?!\n).+)*/m.exec(text.replace(/^```[\s\S]*?^```$/gm, '')) ?? []
  const plain = paragraph
    ?.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replaceAll('\n', ' ')
  return plain === undefined ? {} : { description: plain.length > 200 ? `${plain.slice(0, 199)}…` : plain }
}
