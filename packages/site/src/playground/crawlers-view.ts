// The crawlers of the matrix: their names, and presets by purpose from the catalogue.
import { findCrawler, isCrawlerName, type KnownCrawler, knownCrawlersDate } from '@politely/core/crawlers'
import { crawlerTitle } from '@politely/playground/matrix'
import { obeysText, presets } from '@politely/playground/presets'
import { MAX_CRAWLERS } from '@politely/playground/state'
import { el, link, setText } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

export class CrawlersView implements View {
  readonly element: HTMLElement
  /** What the operators document. It is wider than the list. */
  readonly details: HTMLElement
  readonly #update: Update
  readonly #chips = el('ul', { class: 'pg-chips' })
  readonly #input = el('input', {
    id: 'pg-crawler',
    list: 'pg-known',
    size: '14',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'ExampleBot',
    'aria-describedby': 'pg-crawler-problem',
  })
  readonly #problem = el('p', { class: 'pg-problem', id: 'pg-crawler-problem', role: 'status' })
  readonly #known = el('tbody')
  #crawlers: readonly string[] = []

  constructor(update: Update) {
    this.#update = update
    const known = presets.flatMap(({ crawlers }) => crawlers)
    const preset = el(
      'select',
      {
        id: 'pg-preset',
        change: () => {
          const chosen = presets.find(({ purpose }) => purpose === preset.value)
          if (chosen) this.#set(chosen.crawlers.map(({ token }) => token).slice(0, MAX_CRAWLERS))
          const leftOut = Math.max(0, (chosen?.crawlers.length ?? 0) - MAX_CRAWLERS)
          setText(
            this.#problem,
            leftOut === 0
              ? ''
              : `The matrix has at most ${MAX_CRAWLERS} crawlers, so the last ${leftOut} of this preset are left out.`,
          )
          preset.value = ''
        },
      },
      el('option', { value: '' }, 'choose a preset…'),
      ...presets.map(({ purpose, title, crawlers }) =>
        el('option', { value: purpose }, `${title} (${crawlers.length})`),
      ),
    )
    this.element = el(
      'section',
      { 'aria-labelledby': 'pg-crawlers' },
      el(
        'div',
        { class: 'pg-head' },
        el('h2', { id: 'pg-crawlers' }, 'Crawlers'),
        el('label', { for: 'pg-preset', class: 'pg-visually-hidden' }, 'Crawlers by purpose'),
        preset,
      ),
      el(
        'div',
        { class: 'pg-crawlers' },
        this.#chips,
        el(
          'form',
          {
            submit: (event: SubmitEvent) => {
              event.preventDefault()
              this.#add()
            },
          },
          el('label', { for: 'pg-crawler', class: 'pg-visually-hidden' }, 'Another crawler'),
          this.#input,
          el('button', {}, 'Add'),
        ),
      ),
      this.#problem,
      el(
        'datalist',
        { id: 'pg-known' },
        ...known.map(({ token, operator }) => el('option', { value: token }, operator)),
      ),
    )
    this.details = el(
      'details',
      {},
      el('summary', {}, 'What their operators document'),
      el(
        'div',
        { class: 'pg-scroll', tabindex: '0', role: 'region', 'aria-label': 'What the operators document' },
        el(
          'table',
          { class: 'pg-known' },
          el(
            'thead',
            {},
            el(
              'tr',
              {},
              ...['crawler', 'operator', 'page read', 'robots.txt'].map((title) => el('th', { scope: 'col' }, title)),
            ),
          ),
          this.#known,
        ),
      ),
      el(
        'p',
        { class: 'pg-note' },
        `From the catalogue of ${knownCrawlersDate}. `,
        link('../reference/known-crawlers/', 'All known crawlers'),
        '.',
      ),
    )
  }

  render({ state: { crawlers } }: Shown): void {
    if (crawlers === this.#crawlers) return
    this.#crawlers = crawlers
    this.#chips.replaceChildren(...crawlers.map((crawler, i) => this.#chip(crawler, i)))
    this.#known.replaceChildren(...crawlers.map((crawler) => knownRow(crawler, findCrawler(crawler))))
  }

  #chip(crawler: string, i: number): HTMLElement {
    const title = crawlerTitle(crawler)
    const remove = () => {
      this.#set(this.#crawlers.filter((each) => each !== crawler))
      const next = this.#chips.querySelectorAll('button')[Math.min(i, this.#crawlers.length - 1)]
      ;(next ?? this.#input).focus()
    }
    return el(
      'li',
      {},
      crawler === '*' ? '* (any other)' : title,
      el('button', { type: 'button', 'aria-label': `Remove ${title}`, click: remove }, '×'),
    )
  }

  #add(): void {
    const name = this.#input.value.trim()
    const known = findCrawler(name)
    const token = known?.token ?? name
    const isValid = isCrawlerName(token)
    const isFull = this.#crawlers.length >= MAX_CRAWLERS
    setText(
      this.#problem,
      !isValid
        ? 'A crawler is named by letters, digits, "-" and "_", such as ExampleBot; * stands for any other.'
        : isFull
          ? `The matrix has at most ${MAX_CRAWLERS} crawlers; remove one first.`
          : '',
    )
    if (!isValid || isFull) return
    this.#input.value = ''
    this.#set([...new Set([...this.#crawlers, token])])
  }

  #set(crawlers: readonly string[]): void {
    this.#update({ crawlers, open: undefined })
  }
}

function knownRow(name: string, crawler: KnownCrawler | undefined): HTMLElement {
  if (crawler === undefined) {
    const text = name === '*' ? 'a crawler that no group names' : 'not in the catalogue'
    return el('tr', {}, el('th', { scope: 'row' }, name), el('td', { colspan: '3' }, text))
  }
  const { operator, source, readOn } = crawler
  return el(
    'tr',
    {},
    el('th', { scope: 'row' }, crawler.name),
    el('td', {}, link(source, operator)),
    el('td', {}, readOn ?? 'not read'),
    el('td', {}, obeysText(crawler)),
  )
}
