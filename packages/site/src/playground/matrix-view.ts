// The matrix: a grid with one row for each URL and one column for each crawler. One cell of it is in
// the order of the Tab key, and the arrow keys move between the cells.
import {
  type Answer,
  answerOf,
  type Cell,
  countCells,
  crawlerTitle,
  decidingLine,
  signs,
} from '@politely/playground/matrix'
import { watchCut } from '../components/cut.ts'
import { count, el, setText } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

/** More columns than these have only signs and lines, under names that are turned. */
const MAX_WORDY_COLUMNS = 10

/** More rows make a page that is slow to scroll. All URLs are checked. */
const MAX_ROWS = 200

type Filter = 'all' | 'disallowed' | 'changed'

interface CellNodes {
  readonly cell: HTMLTableCellElement
  readonly sign: HTMLElement
  readonly word: HTMLElement
  readonly note: HTMLElement
}

export class MatrixView implements View {
  readonly element: HTMLElement
  readonly #update: Update
  readonly #onOpen: (byKey: boolean) => void
  readonly #table = el('table', {
    role: 'grid',
    class: 'pg-matrix',
    'aria-labelledby': 'pg-verdicts',
    'aria-describedby': 'pg-keys',
  })
  readonly #summary = el('p', { class: 'pg-summary' })
  readonly #rest = el('p', { class: 'pg-note' })
  readonly #filter = el(
    'select',
    { 'aria-label': 'Show the URLs', change: () => this.#shown && this.render(this.#shown) },
    el('option', { value: 'all' }, 'all URLs'),
    el('option', { value: 'disallowed' }, 'with a disallowed verdict'),
    el('option', { value: 'changed' }, 'with a changed verdict'),
  )
  #shown: Shown | undefined
  /** What the rows and columns are of: if it changes, they are made anew. */
  #frame = ''
  /** By URL, then by crawler. */
  #nodes = new Map<number, readonly CellNodes[]>()
  #focused = { url: 0, crawler: 0 }

  /** @param onOpen Called after a cell was opened. */
  constructor(update: Update, onOpen: (byKey: boolean) => void) {
    this.#update = update
    this.#onOpen = onOpen
    this.#table.addEventListener('keydown', (event) => this.#onKey(event))
    this.#table.addEventListener('click', (event) => this.#onClick(event))
    const scroller = el('div', { class: 'pg-scroll pg-rows' }, this.#table)
    watchCut(scroller)
    this.element = el(
      'section',
      { class: 'pg-verdicts', 'aria-labelledby': 'pg-verdicts' },
      el('div', { class: 'pg-head' }, el('h2', { id: 'pg-verdicts' }, 'Verdicts'), this.#summary, this.#filter),
      el(
        'p',
        { id: 'pg-keys', class: 'pg-visually-hidden' },
        'Arrow keys move, Enter opens a cell, Escape returns to it.',
      ),
      scroller,
      this.#rest,
    )
  }

  /** Puts the focus on the open cell. */
  focus(): void {
    const { url, crawler } = this.#focused
    this.#nodes.get(url)?.[crawler]?.cell.focus()
  }

  render(shown: Shown): void {
    this.#shown = shown
    const { state, matrix } = shown
    const hasBefore = state.before !== undefined
    if (!hasBefore && this.#filter.value === 'changed') this.#filter.value = 'all'
    ;(this.#filter.options[2] as HTMLOptionElement).hidden = !hasBefore
    const filter = this.#filter.value as Filter
    const found = state.urls.map((_, i) => i).filter((i) => isShown(matrix[i] ?? [], filter))
    const rows = found.slice(0, MAX_ROWS)
    const frame = JSON.stringify([rows.map((i) => [i, state.urls[i]]), state.crawlers])
    if (frame !== this.#frame) this.#build(rows, shown)
    this.#frame = frame
    for (const row of rows) {
      const nodes = this.#nodes.get(row)
      matrix[row]?.forEach((cell, column) => {
        const isOpen = state.open?.url === row && state.open.crawler === column
        if (nodes?.[column]) fill(nodes[column], cell, isOpen, isDense(state.crawlers))
      })
    }
    if (state.open !== undefined) this.#moveTo(state.open.url, state.open.crawler, false)
    setText(this.#summary, summaryOf(shown))
    const hidden = found.length - rows.length
    setText(this.#rest, restText(state.urls.length, found.length, hidden))
  }

  #build(rows: readonly number[], { state: { urls, crawlers } }: Shown): void {
    this.#table.classList.toggle('pg-dense', isDense(crawlers))
    const hadFocus = this.#table.contains(document.activeElement)
    this.#nodes = new Map()
    const head = el(
      'tr',
      { role: 'row' },
      el('th', { role: 'columnheader', scope: 'col' }, 'URL'),
      ...crawlers.map((crawler) =>
        el('th', { role: 'columnheader', scope: 'col' }, el('span', {}, crawler === '*' ? '*' : crawlerTitle(crawler))),
      ),
    )
    const body = rows.map((row) => {
      const nodes = crawlers.map((crawler, column) => newCell(row, column, crawler))
      this.#nodes.set(row, nodes)
      return el(
        'tr',
        { role: 'row' },
        el('th', { role: 'rowheader', scope: 'row', title: urls[row] }, ...urlNodes(urls[row] ?? '')),
        ...nodes.map(({ cell }) => cell),
      )
    })
    this.#table.replaceChildren(el('thead', { role: 'rowgroup' }, head), el('tbody', { role: 'rowgroup' }, ...body))
    const first = rows[0] ?? 0
    const { url, crawler } = this.#focused
    const isThere = this.#nodes.get(url)?.[crawler] !== undefined
    this.#moveTo(isThere ? url : first, isThere ? crawler : 0, hadFocus)
  }

  /** Makes a cell the one in the order of the Tab key. */
  #moveTo(url: number, crawler: number, isFocused: boolean): void {
    const next = this.#nodes.get(url)?.[crawler]
    if (next === undefined) return
    this.#nodes.get(this.#focused.url)?.[this.#focused.crawler]?.cell.setAttribute('tabindex', '-1')
    next.cell.setAttribute('tabindex', '0')
    this.#focused = { url, crawler }
    if (isFocused) next.cell.focus()
  }

  #onKey(event: KeyboardEvent): void {
    const rows = [...this.#nodes.keys()]
    const columns = this.#shown?.state.crawlers.length ?? 0
    const { url, crawler } = this.#focused
    const at = rows.indexOf(url)
    const go = (row: number, column: number): void => {
      event.preventDefault()
      const to = rows[Math.max(0, Math.min(rows.length - 1, row))]
      if (to !== undefined) this.#moveTo(to, Math.max(0, Math.min(columns - 1, column)), true)
    }
    const isAll = event.ctrlKey || event.metaKey
    switch (event.key) {
      case 'ArrowUp':
        go(at - 1, crawler)
        break
      case 'ArrowDown':
        go(at + 1, crawler)
        break
      case 'ArrowLeft':
        go(at, crawler - 1)
        break
      case 'ArrowRight':
        go(at, crawler + 1)
        break
      case 'Home':
        go(isAll ? 0 : at, 0)
        break
      case 'End':
        go(isAll ? rows.length - 1 : at, columns - 1)
        break
      case 'PageUp':
        go(at - 10, crawler)
        break
      case 'PageDown':
        go(at + 10, crawler)
        break
      case 'Enter':
      case ' ':
        event.preventDefault()
        this.#open(url, crawler, true)
    }
  }

  #onClick({ target }: MouseEvent): void {
    const cell = target instanceof Element ? target.closest('td') : null
    if (cell === null) return
    const [url = 0, crawler = 0] = (cell.dataset.at ?? '').split(' ').map(Number)
    this.#moveTo(url, crawler, true)
    this.#open(url, crawler, false)
  }

  #open(url: number, crawler: number, byKey: boolean): void {
    this.#update({ open: { url, crawler } })
    this.#onOpen(byKey)
  }
}

function isShown(row: readonly Cell[], filter: Filter): boolean {
  if (filter === 'all') return true
  return row.some(({ verdict, isChanged }) => (filter === 'changed' ? isChanged : answerOf(verdict) === 'disallowed'))
}

function newCell(url: number, crawler: number, name: string): CellNodes {
  const sign = el('span', { class: 'pg-sign', 'aria-hidden': 'true' })
  const word = el('span', { class: 'pg-word' })
  const note = el('span', { class: 'pg-line' })
  const cell = el(
    'td',
    { role: 'gridcell', tabindex: '-1', 'data-at': `${url} ${crawler}` },
    el('span', { class: 'pg-who', 'aria-hidden': 'true' }, name === '*' ? '*' : crawlerTitle(name)),
    el('span', { class: 'pg-verdict' }, sign, word),
    note,
  )
  return { cell, sign, word, note }
}

function isDense(crawlers: readonly string[]): boolean {
  return crawlers.length > MAX_WORDY_COLUMNS
}

function fill(
  { cell, sign, word, note }: CellNodes,
  { verdict, before, isChanged }: Cell,
  isOpen: boolean,
  isShort: boolean,
): void {
  const answer = answerOf(verdict)
  cell.className = `pg-${answer}${isChanged ? ' pg-changed' : ''}`
  cell.setAttribute('aria-selected', String(isOpen))
  setText(sign, signs[answer])
  setText(word, answer)
  const line = decidingLine(verdict)
  const invalid = verdict.because === 'invalid-url' && verdict.problem === 'relative' ? 'no scheme' : 'not a URL'
  const was = isChanged && before !== undefined ? `was ${answerOf(before)}` : undefined
  const because = line === undefined ? (answer === 'invalid' ? invalid : 'no rule') : `line ${line}`
  setText(note, isShort ? String(line ?? '') : (was ?? because))
  cell.title = isShort ? [answer, because, was].filter(Boolean).join(', ') : ''
}

/** Returns the URL with its origin in another colour. */
function urlNodes(url: string): readonly HTMLElement[] {
  const [, origin = '', path = url] = /^(https?:\/\/[^/?#]*)(.*)$/s.exec(url) ?? []
  return [el('span', { class: 'pg-origin' }, origin), el('span', { class: 'pg-path' }, path === '' ? '/' : path)]
}

function summaryOf({ state: { urls, crawlers, before }, matrix }: Shown): string {
  if (urls.length * crawlers.length === 0) return 'Write a URL and choose a crawler.'
  const cellsWith = (answer: Answer) =>
    countCells(matrix, ({ verdict }) => answerOf(verdict) === answer).toLocaleString('en')
  const invalid = cellsWith('invalid')
  const invalidText = invalid === '0' ? '' : `, ${invalid} invalid`
  const text = `${cellsWith('disallowed')} of ${count(urls.length * crawlers.length, 'verdict')} disallowed${invalidText}`
  if (before === undefined) return text
  return `${text}, ${countCells(matrix, ({ isChanged }) => isChanged).toLocaleString('en')} changed`
}

function restText(urls: number, found: number, hidden: number): string {
  if (urls > 0 && found === 0) return 'No URL is like this.'
  if (hidden > 0) return `${count(hidden, 'more URL')} of ${urls.toLocaleString('en')} are checked and not shown here.`
  return ''
}
