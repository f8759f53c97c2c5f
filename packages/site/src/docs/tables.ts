// Makes the tables of the documentation accessible: a wide table scrolls in an element around it, so that it
// stays a table for screen readers, and a heading without text becomes an ordinary cell.

import type { SatteriProcessorOptions } from '@astrojs/markdown-satteri'

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
