// Makes the tables of the documentation accessible: a wide table scrolls in an element around it, so that it
// stays a table for screen readers, and a heading without text becomes an ordinary cell.

import type { SatteriProcessorOptions } from '@astrojs/markdown-satteri'
import { pathOf } from './repository.ts'

type HtmlPlugin = NonNullable<SatteriProcessorOptions['hastPlugins']>[number]

export const tables: HtmlPlugin = {
  name: 'tables',
  element: [
    {
      filter: ['table'],
      visit: (node, context) => {
        context.wrapNode(node, { type: 'element', tagName: 'div', properties: { className: ['table'] }, children: [] })
      },
    },
    {
      filter: ['th'],
      visit: (node, context) => {
        if (node.children.length === 0) context.replaceNode(node, { ...node, tagName: 'td' })
      },
    },
  ],
}

/** Pages whose tables have a name in each row, such as an option or a code. */
const NAMED_ROWS: ReadonlySet<string> = new Set([
  'docs/options.md',
  'docs/pace-options.md',
  'docs/reference/errors.md',
  'docs/reference/lint-findings.md',
])

/** Makes each named row a section of its page: links lead to it, and the search shows it as a result. */
export const namedRows: HtmlPlugin = ({ fileURL }) => {
  if (fileURL === undefined || !NAMED_ROWS.has(pathOf(fileURL))) return undefined
  const ids = new Set<string>()
  return {
    name: 'named-rows',
    element: {
      filter: ['tr'],
      visit: (node, context) => {
        const [cell] = node.children.filter((child) => child.type === 'element')
        const [first, ...others] = cell?.children ?? []
        // The name may be a link to the page that says more.
        const code = first?.type === 'element' && first.tagName === 'a' ? first.children[0] : first
        if (cell?.tagName !== 'td' || others.length > 0 || code?.type !== 'element' || code.tagName !== 'code') return
        const name = context.textContent(code)
        const id = name.toLowerCase().replace(/[^\w.-]+/g, '-')
        if (ids.has(id)) return
        ids.add(id)
        context.setProperty(cell, 'id', id)
        context.setProperty(cell, 'dataPagefindTitle', name)
        context.setProperty(cell, 'dataPagefindWeight', '6')
      },
    },
  }
}
