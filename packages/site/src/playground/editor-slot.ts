// The place of the editor. CodeMirror is two thirds of the page's code, so it is loaded after the
// first verdicts are there. Until then the slot shows the text, and keeps what the editor will show.
import { el } from './dom.ts'
import type { Editor, EditorFinding, EditorOptions, MarkedLines } from './editor-interface.ts'

export class EditorSlot implements Editor {
  readonly element: HTMLElement = el('div', { class: 'pg-editor' })
  readonly #options: EditorOptions
  readonly #placeholder = el('pre', { class: 'pg-placeholder' })
  #editor: Editor | undefined
  #text: string
  #marks: MarkedLines = { deciding: undefined, losing: [], groups: [] }
  #findings: readonly EditorFinding[] = []
  #before: string | undefined
  #line: number | undefined

  constructor(options: EditorOptions) {
    this.#options = options
    this.#text = options.text
    this.#placeholder.textContent = options.text
    this.element.append(this.#placeholder)
  }

  /** Loads the editor. */
  async load(): Promise<void> {
    const { createEditor } = await import('./editor.ts')
    const editor = createEditor(this.element, { ...this.#options, text: this.#text })
    this.#placeholder.remove()
    editor.setMarks(this.#marks, true)
    editor.setFindings(this.#findings)
    editor.setBefore(this.#before)
    if (this.#line !== undefined) editor.goTo(this.#line)
    this.#editor = editor
  }

  get text(): string {
    return this.#editor?.text ?? this.#text
  }

  setText(text: string): void {
    this.#text = text
    this.#placeholder.textContent = text
    if (this.#editor) this.#editor.setText(text)
    else this.#options.onChange(text)
  }

  setMarks(lines: MarkedLines, isScrolledTo: boolean): void {
    this.#marks = lines
    this.#editor?.setMarks(lines, isScrolledTo)
  }

  setFindings(findings: readonly EditorFinding[]): void {
    this.#findings = findings
    this.#editor?.setFindings(findings)
  }

  setBefore(before: string | undefined): void {
    this.#before = before
    this.#editor?.setBefore(before)
  }

  goTo(line: number): void {
    this.#line = line
    this.#editor?.goTo(line)
  }
}
