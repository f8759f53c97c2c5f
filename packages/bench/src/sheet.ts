// The result of a workload: a table, and the few figures that have a target.

/** A table with one row for each library, or for whatever else the workload measures. */
export interface Sheet {
  readonly workload: string
  /** The kind of files that were measured: generated, real, or the workload's own. */
  readonly over: 'generated' | 'real' | 'own'
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly findings: readonly Finding[]
  /**
   * Printed on the terminal only: names of files, which for real files a record must not contain,
   * and charts of several lines.
   */
  readonly notes: readonly string[]
}

interface Column {
  readonly name: string
  readonly unit: string
}

export interface Row {
  readonly name: string
  /** One for each column: a number, a text such as `> 2,000`, or null if the figure is missing. */
  readonly cells: readonly (number | string | null)[]
}

/** A figure of our packages, with its target if it has one. */
export interface Finding {
  /** The label of a row in docs/speed.md. It is the same for generated and real files. */
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly target: Target | null
}

export type Target = { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number }

export function isMet(value: number, target: Target): boolean {
  if ('atLeast' in target) return value >= target.atLeast
  return 'atMost' in target ? value <= target.atMost : value < target.below
}

export function targetText(target: Target, unit: string): string {
  const [sign, bound] =
    'atLeast' in target ? ['≥', target.atLeast] : 'atMost' in target ? ['≤', target.atMost] : ['<', target.below]
  return `${sign} ${figureText(bound, unit)}`
}

/** Formats a figure with about three significant digits. */
export function figureText(value: number, unit: string): string {
  return unit === '' || unit === '×' ? `${digits(value)}${unit === '×' ? '×' : ''}` : `${digits(value)} ${unit}`
}

export function cellText(value: number | string | null): string {
  return value === null ? '–' : typeof value === 'string' ? value : digits(value)
}

export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (Number.isInteger(value)) return grouped(value.toFixed(0))
  if (size >= 100) return grouped(value.toFixed(0))
  if (size >= 10) return value.toFixed(1)
  if (size >= 0.1) return value.toFixed(2)
  return value.toPrecision(2)
}

function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',')
}
