// Makes the links of the documentation work on the site. The files link to each other as GitHub
// shows them: `waiting.md#who-waits`, `../README.md`, `../packages/gate/src/gate.ts`.

import { existsSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import type { SatteriProcessorOptions } from '@astrojs/markdown-satteri'
import { pageOf } from './pages.ts'
import { pathOf, REPOSITORY, ROOT } from './repository.ts'

/** A plugin of the Markdown processor. */
export type MarkdownPlugin = NonNullable<SatteriProcessorOptions['mdastPlugins']>[number]

/** Rewrites links, and removes the first heading, which Starlight shows itself. */
export const documentLinks: MarkdownPlugin = ({ fileURL }) => {
  if (fileURL === undefined) return undefined
  const file = pathOf(fileURL)
  if (pageOf(file) === undefined) return undefined
  return {
    name: 'document-links',
    heading: (node, context) => {
      if (node.depth === 1) context.removeNode(node)
    },
    link: (node, context) => context.setProperty(node, 'url', addressOf(node.url, file)),
    definition: (node, context) => context.setProperty(node, 'url', addressOf(node.url, file)),
  }
}

/** A page that is not made of a file of the documentation, and to which files link. */
const PLAYGROUND = 'packages/site/src/pages/playground.astro'

/** Returns the address on the site of what a link in a file points to. */
function addressOf(link: string, from: string): string {
  if (/^(?:[\w+.-]+:|#)/.test(link)) return link
  const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(link) ?? []
  const target = posix.normalize(posix.join(dirname(from), decodeURIComponent(path))).replace(/\/$/, '')
  const absolute = join(ROOT, target)
  if (!existsSync(absolute)) throw new Error(`${from} links to ${link}, which does not exist`)
  const page = target === PLAYGROUND ? 'playground' : pageOf(target)
  if (page !== undefined) return relativeAddress(pageOf(from) ?? '', page) + hash
  return `${REPOSITORY}/${statSync(absolute).isDirectory() ? 'tree' : 'blob'}/main/${target}${hash}`
}

/** Returns the address of a page relative to another: `../waiting/`. */
function relativeAddress(from: string, to: string): string {
  const path = posix.relative(`/${from}`, `/${to}`)
  return path === '' ? './' : `${path}/`
}
