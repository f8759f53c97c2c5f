// The list of findings below the editor, each with its quick fix.
import { type Finding, lintRobots } from '@politely/core'
import { applyFixes, type Fix, fixRobots, ignoredFindings, quickFixes } from '@politely/core/review'
import { count, el, link, setText } from './dom.ts'
import type { Editor, EditorFinding } from './editor-interface.ts'
import { fixTitle } from './fix-title.ts'
import { lineButton } from './panel-view.ts'
import type { Shown, Update, View } from './shown.ts'

const SIGNS = { error: '✗', warning: '!', note: 'i' } as const

/** A long list hides what matters; the first findings have the lines where to begin. */
const MAX_FINDINGS = 50

/** How long after the last key the file is linted. */
const DELAY_MS = 150

export class FindingsView implements View {
  readonly element: HTMLElement
  readonly #update: Update
  readonly #editor: () => Editor
  readonly #summary = el('p', { class: 'pg-summary' })
  readonly #list = el('ul', { class: 'pg-findings' })
  readonly #fixAll = el('button', { type: 'button', click: () => this.#applyAll() })
  #text = ''
  #dialect = ''
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(update: Update, editor: () => Editor) {
    this.#update = update
    this.#editor = editor
    this.element = el(
      'section',
      { class: 'pg-lint', 'aria-labelledby': 'pg-findings' },
      el('div', { class: 'pg-head' }, el('h2', { id: 'pg-findings' }, 'Findings'), this.#summary, this.#fixAll),
      this.#list,
    )
  }

  render({ state: { robots, dialect } }: Shown): void {
    if (robots === this.#text && dialect === this.#dialect) return
    const isFirst = this.#dialect === ''
    this.#text = robots
    this.#dialect = dialect
    clearTimeout(this.#timer)
    if (isFirst) this.#lint()
    else this.#timer = setTimeout(() => this.#lint(), DELAY_MS)
  }

  #lint(): void {
    const bytes = new TextEncoder().encode(this.#text)
    const { byLine } = ignoredFindings(this.#text.split(/\r\n|\r|\n/))
    const dialect = this.#dialect as Shown['state']['dialect']
    const findings = lintRobots(bytes, { dialect }).filter(({ line, code }) => !byLine.get(line)?.has(code))
    const fixes = new Map(quickFixes(this.#text).map((fix) => [`${fix.line} ${fix.code}`, fix]))
    const shown = findings.map(
      (finding): EditorFinding => ({ finding, fix: fixes.get(`${finding.line} ${finding.code}`) }),
    )
    this.#editor().setFindings(shown)
    const safe = [...fixes.values()].filter(({ changes }) => changes === undefined).length
    this.#fixAll.hidden = safe === 0
    setText(this.#fixAll, `Fix ${count(safe, 'line')} without changing a verdict`)
    setText(this.#summary, summaryOf(findings))
    this.#list.replaceChildren(...shown.slice(0, MAX_FINDINGS).map((each) => this.#row(each)))
    if (shown.length > MAX_FINDINGS) {
      this.#list.append(el('li', { class: 'pg-note' }, `and ${count(shown.length - MAX_FINDINGS, 'more finding')}`))
    }
  }

  #row({ finding: { line, severity, message, code }, fix }: EditorFinding): HTMLElement {
    return el(
      'li',
      { class: `pg-finding pg-is-${severity}` },
      el('span', { class: 'pg-severity' }, el('span', { 'aria-hidden': 'true' }, SIGNS[severity]), ` ${severity}`),
      line === 0 ? el('span', {}, 'the whole file') : lineButton(line, (to) => this.#editor().goTo(to)),
      el('span', { class: 'pg-message' }, message, ' ', link('../reference/lint-findings/', code)),
      fix !== undefined &&
        el(
          'span',
          { class: 'pg-fix' },
          el('button', { type: 'button', click: () => this.apply(fix) }, fixTitle(fix)),
          el('span', { class: 'pg-why' }, fix.changes === undefined ? 'changes no verdict' : fix.changes),
        ),
    )
  }

  /** Applies a quick fix, if its line is still the same. */
  apply(fix: Fix): void {
    const editor = this.#editor()
    const { text } = editor
    if (text.split('\n')[fix.line - 1] !== fix.before) return
    this.#write(applyFixes(text, [fix]))
    editor.goTo(Math.min(fix.line, text.split('\n').length))
  }

  #applyAll(): void {
    this.#write(fixRobots(this.#editor().text, false).text)
    this.#summary.setAttribute('tabindex', '-1')
    this.#summary.focus()
  }

  #write(text: string): void {
    this.#editor().setText(text)
    this.#update({ robots: text })
  }
}

function summaryOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return '✓ none'
  const counts = (['error', 'warning', 'note'] as const).map((each) => ({
    each,
    number: findings.filter(({ severity }) => severity === each).length,
  }))
  return counts
    .filter(({ number }) => number > 0)
    .map(({ each, number }) => count(number, each))
    .join(', ')
}
