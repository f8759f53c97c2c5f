// What a workload found out: a table for the terminal and the record, and the few figures that are held against a target.

/** A table with a row for each library, or for whatever else was measured. */
export interface Sheet {
  readonly workload: string
  /** Which files: generated, real, or made by the workload itself. */
  readonly over: 'generated' | 'real' | 'own'
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly findings: readonly Finding[]
  /** Said on the terminal only: names of files, real ones among them, which no record may hold; pictures of several lines. */
  readonly asides: readonly string[]
}

interface Column {
  readonly name: string
  readonly unit: string
}

export interface Row {
  readonly name: string
  /** One for each column: a figure, or words where the figure is not known; null where there is nothing to say. */
  readonly cells: readonly (number | string | null)[]
}

/** A figure of ours that we have promised something about. */
export interface Finding {
  /** The same words for every kind of file: one line of the page about speed. */
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

/** Three figures that count, and never more than are known. */
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
