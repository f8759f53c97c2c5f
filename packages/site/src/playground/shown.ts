// What the views show: the state, and everything computed from it.
import type { CellReport } from '@politely/playground/cell-report'
import { cellReport } from '@politely/playground/cell-report'
import { type Comparison, compareFiles } from '@politely/playground/comparison'
import { type Matrix, matrixOf } from '@politely/playground/matrix'
import type { PlaygroundState } from '@politely/playground/state'

export interface Shown {
  readonly state: PlaygroundState
  readonly matrix: Matrix
  /** Undefined if no cell is open. */
  readonly report: CellReport | undefined
  /** Undefined without an earlier file. */
  readonly comparison: Comparison | undefined
}

/** A part of the page. */
export interface View {
  render(shown: Shown): void
}

/** Changes the state. The page is rendered again at once. */
export type Update = (change: Partial<PlaygroundState>) => void

export function shownOf(state: PlaygroundState): Shown {
  return { state, matrix: matrixOf(state), report: cellReport(state), comparison: compareFiles(state) }
}
