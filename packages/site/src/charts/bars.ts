// Draws a bar chart as SVG without a library. Lengths are percentages, so the chart has the width of the
// page, and its text keeps its size. The colours come from src/styles/charts.css.

export interface Bar {
  readonly label: string
  readonly value: number
  readonly isOurs: boolean
}

export interface BarChart {
  readonly title: string
  /** Where the figures come from. */
  readonly note: string
  readonly unit: string
  /** Bars under one heading; the lengths of all groups have one scale. */
  readonly groups: readonly { readonly heading: string; readonly bars: readonly Bar[] }[]
}

// Pixels.
const HEADING_HEIGHT = 26
const BAR_HEIGHT = 38
const GROUP_GAP = 10

/** Returns a figure with the chart. The longest bar has the whole width. */
export function barChart({ title, note, unit, groups }: BarChart): string {
  const longest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const parts: string[] = []
  let y = 0
  for (const { heading, bars } of groups) {
    if (heading !== '') {
      parts.push(`<text class="chart-heading" x="0" y="${y + 16}">${escaped(heading)}</text>`)
      y += HEADING_HEIGHT
    }
    for (const { label, value, isOurs } of bars) {
      const kind = isOurs ? 'chart-ours' : 'chart-other'
      parts.push(
        `<text class="${kind}" x="0" y="${y + 14}">${escaped(label)}</text>`,
        `<text class="${kind}" x="100%" y="${y + 14}" text-anchor="end">${escaped(`${digits(value)} ${unit}`)}</text>`,
        `<rect class="${kind}" x="0" y="${y + 22}" width="${Math.max(0.3, Math.round((value / longest) * 1_000) / 10)}%" height="7" rx="2"/>`,
      )
      y += BAR_HEIGHT
    }
    y += GROUP_GAP
  }
  const description = groups.map(
    ({ heading, bars }) => `${heading}: ${bars.map((bar) => `${bar.label} ${digits(bar.value)} ${unit}`).join(', ')}`,
  )
  return [
    '<figure class="chart not-content">',
    `<figcaption><strong>${escaped(title)}</strong> ${escaped(note)}</figcaption>`,
    `<svg role="img" aria-label="${escaped(`${title}. ${description.join('. ')}`)}" width="100%" height="${y - GROUP_GAP}">${parts.join('')}</svg>`,
    '</figure>',
  ].join('')
}

/** Formats a figure with three significant digits. */
function digits(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
