// The editor of robots.txt. It is in a shadow root, because CodeMirror then adds its styles with
// `adoptedStyleSheets`, which a strict Content-Security-Policy allows.
//
// Tab is not bound, so it leaves the editor as it leaves any other field.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { unifiedMergeView } from '@codemirror/merge'
import { Compartment, EditorState, type Range, RangeSet, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { Finding } from '@politely/core'
import type { Fix } from '@politely/core/review'
import type { Editor, EditorOptions, MarkedLines } from './editor-interface.ts'
import { fixTitle } from './fix-title.ts'
import { robotsColours, robotsLanguage } from './highlight.ts'

const setMarks = StateEffect.define<MarkedLines>()

const marks = StateField.define<DecorationSet>({
  create: () => RangeSet.empty,
  update(value, { changes, effects, state }) {
    const effect = effects.find((each) => each.is(setMarks))
    return effect === undefined ? value.map(changes) : decorationsOf(effect.value as MarkedLines, state)
  },
  provide: (field) => EditorView.decorations.from(field),
})

function decorationsOf({ deciding, losing, groups }: MarkedLines, { doc }: EditorState): DecorationSet {
  const ranges: Range<Decoration>[] = []
  const add = (line: number, name: string, title: string) => {
    if (line < 1 || line > doc.lines) return
    const spec = { class: name, attributes: { title } }
    ranges.push(Decoration.line(spec).range(doc.line(line).from))
  }
  for (const line of groups) add(line, 'cm-group', 'The group that applies')
  for (const line of losing) add(line, 'cm-losing', 'Matches too, and loses')
  if (deciding !== undefined) add(deciding, 'cm-deciding', 'This line decides')
  return RangeSet.of(ranges, true)
}

export function createEditor(parent: HTMLElement, { text, label, onChange, onFix }: EditorOptions): Editor {
  const root = parent.attachShadow({ mode: 'open' })
  const differences = new Compartment()
  let shownBefore: string | undefined
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        highlightSpecialChars({ addSpecialChars: /\ufeff/g }),
        drawSelection(),
        highlightActiveLine(),
        robotsLanguage,
        syntaxHighlighting(robotsColours),
        marks,
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': label,
          spellcheck: 'false',
          autocapitalize: 'off',
          tabindex: '0',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(view.state.doc.toString())
        }),
        theme,
        differences.of([]),
      ],
    }),
  })
  return {
    get text() {
      return view.state.doc.toString()
    },
    setText(next) {
      if (next === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    setMarks(lines, isScrolledTo) {
      view.dispatch({ effects: setMarks.of(lines) })
      const at = isScrolledTo ? (lines.deciding ?? lines.groups[0]) : undefined
      if (at !== undefined) scrollEditorTo(view, at)
    },
    setFindings(findings) {
      const { doc } = view.state
      const diagnostics = findings
        .filter(({ finding }) => finding.line >= 1 && finding.line <= doc.lines)
        .map(({ finding, fix }) => diagnosticOf(finding, fix, doc.line(finding.line), onFix))
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    setBefore(before) {
      if (before === shownBefore) return
      shownBefore = before
      const shown =
        before === undefined
          ? []
          : unifiedMergeView({ original: before, mergeControls: false, syntaxHighlightDeletions: false })
      view.dispatch({ effects: differences.reconfigure(shown) })
    },
    goTo(line) {
      if (line < 1 || line > view.state.doc.lines) return
      const { from } = view.state.doc.line(line)
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
      view.focus()
    },
  }
}

/**
 * Scrolls the editor to a line. `EditorView.scrollIntoView` would scroll the page too, away from the
 * cell that the user opened.
 */
function scrollEditorTo(view: EditorView, line: number): void {
  view.requestMeasure({
    read: ({ state: { doc } }) => view.lineBlockAt(doc.line(Math.min(line, doc.lines)).from),
    write: ({ top, bottom }) => {
      const { scrollDOM } = view
      const { scrollTop, clientHeight } = scrollDOM
      if (top < scrollTop || bottom > scrollTop + clientHeight) scrollDOM.scrollTop = (top + bottom - clientHeight) / 2
    },
  })
}

const SEVERITIES = { error: 'error', warning: 'warning', note: 'info' } as const

function diagnosticOf(
  { severity, message, code }: Finding,
  fix: Fix | undefined,
  line: { readonly from: number; readonly to: number; readonly text: string },
  onFix: (fix: Fix) => void,
): Diagnostic {
  const indent = /^[\s\ufeff]*/.exec(line.text)?.[0].length ?? 0
  return {
    from: Math.min(line.from + indent, line.to),
    to: line.to,
    severity: SEVERITIES[severity],
    source: code,
    message,
    actions: fix === undefined ? [] : [{ name: fixTitle(fix), apply: () => onFix(fix) }],
  }
}

const theme = EditorView.theme({
  '&': {
    minHeight: '14rem',
    maxHeight: 'var(--pg-editor-max)',
    color: 'var(--pg-text)',
    backgroundColor: 'var(--pg-field)',
    fontSize: '0.875rem',
  },
  '&.cm-focused': { outline: '2px solid var(--pg-focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--__sl-font-mono, monospace)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--pg-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--pg-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--pg-selection) !important',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--pg-line)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--pg-muted)', border: 'none' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--pg-text)' },
  '.cm-line.cm-group': { boxShadow: 'inset 3px 0 0 var(--pg-agent)' },
  '.cm-line.cm-losing': { boxShadow: 'inset 3px 0 0 var(--pg-border)', backgroundColor: 'var(--pg-line)' },
  '.cm-line.cm-deciding': { boxShadow: 'inset 4px 0 0 var(--pg-mark)', backgroundColor: 'var(--pg-mark-bg)' },
  // The colours of forced-colors mode replace the backgrounds and shadows of the marked lines.
  '@media (forced-colors: active)': {
    '.cm-line.cm-deciding': { outline: '2px solid Highlight', outlineOffset: '-2px' },
    '.cm-line.cm-losing': { outline: '1px dashed', outlineOffset: '-1px' },
  },
  '.cm-tooltip': {
    color: 'var(--pg-text)',
    backgroundColor: 'var(--pg-panel)',
    border: '1px solid var(--pg-border)',
    maxWidth: '32rem',
    fontFamily: 'var(--__sl-font, sans-serif)',
  },
  '.cm-diagnosticAction': {
    color: 'var(--pg-on-accent)',
    backgroundColor: 'var(--pg-accent)',
    borderRadius: '3px',
    padding: '2px 8px',
  },
  '.cm-diagnosticSource': { opacity: '1', color: 'var(--pg-muted)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--pg-no-bg)', color: 'var(--pg-text)' },
  '.cm-changedLine': { backgroundColor: 'var(--pg-ok-bg) !important' },
  '.cm-changedText': { background: 'none' },
  '.cm-specialChar': { color: 'var(--pg-wildcard)' },
})
