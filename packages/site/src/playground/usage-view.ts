// What may be done with the page of the open cell, by purpose. It reads HTML and structured
// headers, so its code is large, and main.ts loads it after the editor.
import { crawlerTitle, signs } from '@politely/playground/matrix'
import type { PlaygroundState } from '@politely/playground/state'
import { type PurposeAnswer, usageReport } from '@politely/playground/usage-report'
import { el, link, setText } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

export class UsageView implements View {
  readonly element: HTMLElement
  readonly #about = el('p', { class: 'pg-note' })
  readonly #result = el('div')
  readonly #headers: HTMLTextAreaElement
  readonly #html: HTMLTextAreaElement
  readonly #details: HTMLDetailsElement
  #shown: Shown | undefined
  /** The state that the result is of. */
  #rendered: PlaygroundState | undefined

  constructor(update: Update) {
    const change = () => update({ page: pageOf(this.#headers.value, this.#html.value) })
    const field = (id: string, placeholder: string) =>
      el('textarea', {
        id,
        rows: '3',
        spellcheck: 'false',
        autocapitalize: 'off',
        wrap: 'off',
        placeholder,
        input: change,
      })
    this.#headers = field('pg-headers', 'X-Robots-Tag: noindex')
    this.#html = field('pg-html', '<meta name="robots" content="nosnippet">')
    this.#details = el(
      'details',
      { class: 'pg-fold', toggle: () => this.#write() },
      el('summary', {}, el('h2', {}, 'What may be done with the page')),
      this.#about,
      this.#result,
      el(
        'div',
        { class: 'pg-inputs' },
        el('div', {}, el('label', { for: 'pg-headers' }, 'Headers of the page, pasted'), this.#headers),
        el('div', {}, el('label', { for: 'pg-html' }, 'The page or its head, pasted'), this.#html),
      ),
    )
    this.element = this.#details
  }

  render(shown: Shown): void {
    this.#shown = shown
    const { headers = '', html = '' } = shown.state.page ?? {}
    if (this.#headers.value !== headers) this.#headers.value = headers
    if (this.#html.value !== html) this.#html.value = html
    if (shown.state.page !== undefined && this.#rendered === undefined) this.#details.open = true
    this.#write()
  }

  #write(): void {
    if (!this.#details.open || this.#shown === undefined) return
    const { state } = this.#shown
    if (state === this.#rendered) return
    this.#rendered = state
    const report = usageReport(state)
    if (report === undefined) {
      setText(this.#about, 'Open a cell with a valid URL.')
      this.#result.replaceChildren()
      return
    }
    const { url, crawler, answers, conflicts, licenses, problems } = report
    setText(
      this.#about,
      `${crawlerTitle(crawler)} and ${url}, by robots.txt and by what is pasted below. Nothing is fetched.`,
    )
    const stated = answers.filter(({ answer }) => answer !== 'unstated')
    const unstated = answers.filter(({ answer }) => answer === 'unstated').map(({ title }) => title)
    this.#result.replaceChildren(
      ...(stated.length === 0 ? [] : [el('ul', { class: 'pg-dialects' }, ...stated.map(answerNode))]),
      ...(unstated.length === 0
        ? []
        : [
            el(
              'p',
              { class: 'pg-note' },
              `Nothing says whether a crawler may ${listText(unstated)}. That is no permission and no refusal.`,
            ),
          ]),
      ...listNodes('Where readings differ', conflicts),
      ...listNodes('Licenses that the site names', licenses),
      ...listNodes('Not read', problems),
      el('p', { class: 'pg-note' }, link('../usage/', 'How an answer is made'), '.'),
    )
  }
}

function answerNode({ answer, title, purpose, sources }: PurposeAnswer): HTMLElement {
  const sign = answer === 'unstated' ? '' : `${signs[answer]} `
  return el(
    'li',
    {},
    el('span', { class: `pg-badge pg-${answer}` }, `${sign}${answer}`),
    el('span', {}, `${title} (${purpose})`),
    el('span', { class: 'pg-why' }, sources),
  )
}

function listNodes(title: string, items: readonly string[]): readonly HTMLElement[] {
  if (items.length === 0) return []
  return [el('h3', {}, title), el('ul', { class: 'pg-dialects' }, ...items.map((item) => el('li', {}, item)))]
}

function listText(items: readonly string[]): string {
  return items.length === 1 ? `${items[0]}` : `${items.slice(0, -1).join(', ')}, or ${items.at(-1)}`
}

function pageOf(headers: string, html: string): PlaygroundState['page'] {
  return headers === '' && html === '' ? undefined : { headers, html }
}
