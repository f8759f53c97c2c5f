// The timeline of a simulated crawl, as CrawlTimeline draws it, in the colours of the site.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The colours of its images, and the custom properties of src/styles/charts.css for them. */
const COLOURS: Readonly<Record<string, string>> = {
  '#1f2328': '--chart-ink',
  '#6e7781': '--chart-faint',
  '#e3e7eb': '--chart-grid',
  '#c9d8ea': '--chart-wait',
  '#0b63ce': '--chart-start',
  '#c4320a': '--chart-pushback',
  '#8250df': '--chart-refused',
  '#f2cfc7': '--chart-rest',
  '#ffffff': '--chart-paper',
}

/** Returns one image for each width. Pixels. */
export function timelineImages(widths: readonly number[]): readonly string[] {
  const script = join(process.cwd(), 'src/charts/simulated-crawl.ts')
  const output = execFileSync(process.execPath, [script, ...widths.map(String)], { encoding: 'utf8' })
  const images: string[] = JSON.parse(output)
  return images.map((svg) =>
    svg
      .replace(/#[\da-f]{6}/g, colourOf)
      .replace(/font-family="[^"]*"/, '')
      .replace('<svg ', '<svg role="img" '),
  )
}

function colourOf(hex: string): string {
  const property = COLOURS[hex]
  if (property === undefined)
    throw new Error(`the timeline has a new colour, ${hex}: name it in packages/site/src/charts/timeline.ts`)
  return `var(${property})`
}
