// The panel of the open cell: the reason, the rules that lost, the trace of one pattern, the
// dialects that decide differently.
import { agreements } from '@politely/playground/agreement'
import { type CellReport, traceableRules, traceLine } from '@politely/playground/cell-report'
import { answerOf, crawlerTitle, signs } from '@politely/playground/matrix'
import type { PatternPart, PatternReport } from '@politely/playground/pattern-report'
import { count, el, link } from './dom.ts'
import type { Shown, View } from './shown.ts'

/** The rules after these are far weaker. */
const MAX_MATCHES = 50

export class PanelView implements View {
  readonly element: HTMLElement
  readonly #heading = el('h2', { tabindex: '-1', id: 'pg-cell' })
  readonly #body = el('div', { class: 'pg-panel-body' })
  readonly #goTo: (line: number) => void
  /** The line that is traced, and the cell that it was chosen for. */
  #traced: { readonly line: number; readonly cell: string } | undefined
  #shown: Shown | undefined

  /** @param goTo Shows a line in the editor. @param onEscape Called for the Escape key. */
  constructor(goTo: (line: number) => void, onEscape: () => void) {
    this.#goTo = goTo
    this.element = el(
      'section',
      {
        class: 'pg-panel',
        'aria-labelledby': 'pg-cell',
        keydown: (event: KeyboardEvent) => event.key === 'Escape' && onEscape(),
      },
      this.#heading,
      this.#body,
    )
  }

  focus(): void {
    this.#heading.focus()
  }

  /** Scrolls the page until the verdict is visible. */
  show(): void {
    const isNarrow = matchMedia('(max-width: 60rem)').matches
    const shown = isNarrow ? this.element : this.#heading
    shown.scrollIntoView({ block: 'nearest' })
  }

  render(shown: Shown): void {
    this.#shown = shown
    const { report } = shown
    this.element.hidden = report === undefined
    if (report === undefined) return
    const answer = report.isInvalid ? 'invalid' : report.allowed ? 'allowed' : 'disallowed'
    this.#heading.replaceChildren(
      el('span', { class: `pg-badge pg-${answer}` }, `${signs[answer]} ${answer}`),
      ` ${crawlerTitle(report.crawler)} `,
      el('code', {}, report.url),
    )
    this.#body.replaceChildren(
      el('p', { class: 'pg-reason' }, sentence(report.reason)),
      ...(report.reading === undefined ? [] : [el('p', { class: 'pg-note' }, report.reading)]),
      ...changeOf(shown),
      ...this.#matches(report),
      ...this.#trace(shown, report),
      ...dialectsOf(report),
      agreementOf(shown),
    )
  }

  #matches({ matches }: CellReport): readonly HTMLElement[] {
    if (matches.length === 0) return []
    const rows = matches
      .slice(0, MAX_MATCHES)
      .map(({ line, directive, text, bytes, loss }, i) =>
        el(
          'li',
          { class: i === 0 ? 'pg-winner' : '' },
          lineButton(line, this.#goTo),
          el('code', {}, `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${text}`),
          el(
            'span',
            { class: 'pg-why' },
            loss ?? (matches.length === 1 ? 'decides; no other rule matches' : `decides: ${bytes} bytes`),
          ),
        ),
      )
    const hidden = matches.length - rows.length
    return [
      el('h3', {}, 'Rules that match, the strongest first'),
      el('ol', { class: 'pg-ranked' }, ...rows),
      ...(hidden > 0 ? [el('p', { class: 'pg-note' }, `and ${count(hidden, 'weaker rule')}`)] : []),
    ]
  }

  #trace(shown: Shown, report: CellReport): readonly HTMLElement[] {
    const rules = traceableRules(shown.state, report)
    const cell = `${report.crawler} ${report.url}`
    const chosen = this.#traced?.cell === cell ? this.#traced.line : undefined
    const isThere = rules.some(({ line }) => line === chosen)
    const line =
      (isThere ? chosen : undefined) ?? report.line ?? rules.find(({ applies }) => applies)?.line ?? rules[0]?.line
    if (line === undefined) return []
    const trace = traceLine(shown.state, report, line)
    const select = el(
      'select',
      {
        'aria-label': 'The rule to trace',
        change: () => {
          this.#traced = { line: Number(select.value), cell }
          if (this.#shown) this.render(this.#shown)
          this.#body.querySelector('select')?.focus()
        },
      },
      ...rules.map((rule) =>
        el(
          'option',
          { value: rule.line, selected: rule.line === line },
          `line ${rule.line}  ${rule.text}${rule.applies ? '' : `  (of ${rule.agents.join(', ')})`}`,
        ),
      ),
    )
    const isOther = rules.find((rule) => rule.line === line)?.applies === false
    return [
      el('h3', {}, 'How one pattern matches'),
      select,
      ...(isOther
        ? [el('p', { class: 'pg-note' }, 'This rule is in a group that does not apply to this crawler.')]
        : []),
      ...(trace === undefined ? [el('p', { class: 'pg-note' }, noTrace(report))] : drawTrace(trace, report.url)),
    ]
  }
}

/** Says why the rule cannot be traced. */
function noTrace({ isInvalid }: CellReport): string {
  return isInvalid
    ? 'An invalid URL is compared with no rule.'
    : 'There is nothing to trace: the rule has no path, or * and $ have no special meaning in this dialect.'
}

function drawTrace(
  { parts, rest, matches, summary, text, form, target }: PatternReport,
  url: string,
): readonly HTMLElement[] {
  const columns = parts.map(partNode)
  if (rest !== '') {
    const title = matches ? 'what follows' : 'what is left'
    columns.push(
      el(
        'span',
        { class: 'pg-part pg-rest', role: 'listitem' },
        el('span', { class: 'pg-caption' }, title),
        el('code', {}, rest),
      ),
    )
  }
  const spelling = (name: string, written: string, compared: string) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, name),
      el('td', {}, el('code', {}, written)),
      el('td', {}, written === compared ? 'the same' : el('code', {}, compared)),
    )
  return [
    el(
      'div',
      { class: 'pg-trace', role: 'list', 'aria-label': 'The parts of the pattern, and what each took of the URL' },
      ...columns,
    ),
    el('p', { class: matches ? 'pg-note' : 'pg-note pg-fails' }, `${matches ? '✓' : '✗'} ${summary}`),
    el(
      'table',
      { class: 'pg-spellings' },
      el(
        'thead',
        {},
        el('tr', {}, el('td', {}), el('th', { scope: 'col' }, 'as written'), el('th', { scope: 'col' }, 'as compared')),
      ),
      el('tbody', {}, spelling('pattern', text, form), spelling('URL', url, target)),
    ),
  ]
}

/** A part of the pattern over what it took. */
function partNode({ part, took, state }: PatternPart): HTMLElement {
  const isSpecial = part === '*' || part === '$'
  const hidden = (text: string) => el('span', { class: 'pg-visually-hidden' }, text)
  return el(
    'span',
    { class: `pg-part pg-${state}${isSpecial ? ' pg-special' : ''}`, role: 'listitem' },
    hidden(isSpecial ? '' : 'text '),
    el('code', {}, part),
    hidden({ matched: ' took ', failed: ' failed', untried: ' not tried' }[state]),
    el('code', {}, took === undefined ? { matched: '', failed: '✗', untried: '·' }[state] : tookText(part, took)),
  )
}

function tookText(part: string, took: string): string {
  if (took !== '') return took
  return part === '$' ? 'end' : 'nothing'
}

function changeOf({ state, matrix }: Shown): readonly HTMLElement[] {
  const cell = matrix[state.open?.url ?? -1]?.[state.open?.crawler ?? -1]
  if (cell?.before === undefined) return []
  const line = cell.before.because === 'rule' ? `, by line ${cell.before.rule.line} of the earlier file` : ''
  const text = cell.isChanged ? `Changed: it was ${answerOf(cell.before)}${line}.` : 'The same verdict as before.'
  return [el('p', { class: cell.isChanged ? 'pg-note pg-changed-note' : 'pg-note' }, text)]
}

function dialectsOf({ dialects }: CellReport): readonly HTMLElement[] {
  if (dialects.length === 0) return []
  const rows = dialects.map(({ name, allowed, why }) => {
    const answer = allowed ? 'allowed' : 'disallowed'
    return el(
      'li',
      {},
      el('span', { class: `pg-badge pg-${answer}` }, `${signs[answer]} ${answer}`),
      ` ${DIALECT_TITLES[name]}`,
      el('span', { class: 'pg-why' }, why),
    )
  })
  return [el('h3', {}, 'Other readers decide differently'), el('ul', { class: 'pg-dialects' }, ...rows)]
}

export const DIALECT_TITLES = {
  rfc9309: 'RFC 9309',
  google: "Google's parser",
  'draft-koster-rep-00': 'the draft of 2019',
  'koster-1996': 'the draft of 1996',
  'original-1994': 'the standard of 1994',
} as const

/** Says how far the verdicts of this dialect are compared with Google's parser. */
function agreementOf({ state: { dialect } }: Shown): HTMLElement {
  const page = link('../conformance/', 'how it was compared')
  const agreement = agreements[dialect]
  if (agreement === undefined) {
    return el('p', { class: 'pg-agreement' }, 'google/robotstxt does not implement this dialect: ', page, '.')
  }
  const { same, cases } = agreement
  const numbers = `${same.toLocaleString('en')} of ${cases.toLocaleString('en')}`
  return el(
    'p',
    { class: 'pg-agreement' },
    `Politely and google/robotstxt give the same verdict in ${numbers} cases: `,
    page,
    '.',
  )
}

export function lineButton(line: number, goTo: (line: number) => void): HTMLElement {
  return el(
    'button',
    { type: 'button', class: 'pg-goto', title: 'Show the line in the editor', click: () => goTo(line) },
    `line ${line}`,
  )
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
