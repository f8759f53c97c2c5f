// What the page asks of the editor.
import type { Finding } from '@politely/core'
import type { Fix } from '@politely/core/review'

/** The lines that the open cell is about. */
export interface MarkedLines {
  readonly deciding: number | undefined
  readonly losing: readonly number[]
  readonly groups: readonly number[]
}

export interface EditorFinding {
  readonly finding: Finding
  readonly fix: Fix | undefined
}

export interface EditorOptions {
  readonly text: string
  readonly label: string
  readonly onChange: (text: string) => void
  readonly onFix: (fix: Fix) => void
}

export interface Editor {
  readonly text: string
  /** Replaces the text, as one step that can be undone. */
  setText(text: string): void
  /** @param isScrolledTo Whether the line that decides comes into view. */
  setMarks(lines: MarkedLines, isScrolledTo: boolean): void
  setFindings(findings: readonly EditorFinding[]): void
  /** Shows the differences from an earlier file; undefined ends it. */
  setBefore(before: string | undefined): void
  /** Puts the cursor on a line. */
  goTo(line: number): void
}
