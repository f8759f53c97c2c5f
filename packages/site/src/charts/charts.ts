// Puts the charts into the documentation: each after a heading of a page.

import type { MarkdownPlugin } from '../docs/links.ts'
import { pathOf } from '../docs/repository.ts'
import { memoryChart, siteVisitChart } from './benchmarks.ts'

const CHARTS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/speed.md': {
    'A site visit': () => siteVisitChart([1, 10, 50, 200]),
    'All figures': memoryChart,
  },
}

export const charts: MarkdownPlugin = ({ fileURL }) => {
  const file = fileURL && pathOf(fileURL)
  const missing = new Map(Object.entries(CHARTS[file ?? ''] ?? {}))
  if (missing.size === 0) return undefined
  return {
    name: 'charts',
    heading: (node, context) => {
      const heading = context.textContent(node)
      const draw = missing.get(heading)
      if (draw !== undefined) context.insertAfter(node, { type: 'html', value: draw() })
      missing.delete(heading)
    },
    after: () => {
      if (missing.size > 0) throw new Error(`${file} has no heading "${[...missing.keys()].join('", "')}" for a chart`)
    },
  }
}
