// Before and after: the earlier file, and what the change does.
import type { CrawlerChange, LineChange } from '@politely/core/review'
import { crawlerTitle } from '@politely/playground/matrix'
import { count, el } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

export class ComparisonView implements View {
  readonly element: HTMLElement
  readonly #text: HTMLTextAreaElement
  readonly #result = el('div', { class: 'pg-changes' })

  constructor(update: Update, fileButton: HTMLElement) {
    this.#text = el('textarea', {
      id: 'pg-before',
      rows: '6',
      spellcheck: 'false',
      autocapitalize: 'off',
      wrap: 'off',
      input: () => update({ before: this.#text.value }),
    })
    const stop = el('button', { type: 'button', click: () => update({ before: undefined }) }, 'Stop comparing')
    this.element = el(
      'section',
      { class: 'pg-comparison', 'aria-labelledby': 'pg-comparison' },
      el('div', { class: 'pg-head' }, el('h2', { id: 'pg-comparison' }, 'What changes'), stop),
      this.#result,
      el(
        'details',
        {},
        el('summary', {}, 'The earlier file'),
        el(
          'div',
          { class: 'pg-head' },
          el('label', { for: 'pg-before' }, 'Paste the file that is live now'),
          fileButton,
        ),
        this.#text,
      ),
    )
  }

  /** Shows the field of the earlier file, and puts the focus there. */
  focus(): void {
    const details = this.element.querySelector('details')
    if (details) details.open = true
    this.#text.focus()
    this.#text.select()
  }

  render({ state: { before, urls, crawlers }, comparison }: Shown): void {
    this.element.hidden = before === undefined
    if (before === undefined || comparison === undefined) return
    if (this.#text.value !== before && document.activeElement !== this.#text) this.#text.value = before
    const { given, sampled, samples, leftOut } = comparison
    const total = urls.length * crawlers.length
    const inMatrix = changeNodes(given)
    const shownCrawlers = new Set(given.map(({ crawler }) => crawler.toLowerCase()))
    const others = sampled.filter(({ crawler }) => !shownCrawlers.has(crawler.toLowerCase()))
    this.#result.replaceChildren(
      ...(inMatrix.length === 0
        ? [el('p', {}, `✓ None of the ${count(total, 'verdict')} of the matrix changes.`)]
        : [el('ul', {}, ...inMatrix)]),
      ...(others.length === 0
        ? []
        : [
            el('p', { class: 'pg-note' }, `For other crawlers, on ${count(samples, 'path')} made from the rules:`),
            el('ul', {}, ...changeNodes(others)),
          ]),
      ...(inMatrix.length === 0 && others.length === 0
        ? [el('p', { class: 'pg-note' }, `Nor does any on ${count(samples, 'path')} made from the rules.`)]
        : []),
      ...(leftOut === 0
        ? []
        : [
            el(
              'p',
              { class: 'pg-note' },
              `The files are large, so ${count(leftOut, 'more crawler')} in them were not compared on these paths.`,
            ),
          ]),
    )
  }
}

/** Returns one row for each cause, with all crawlers for which it has the same effect. */
function changeNodes(changes: readonly CrawlerChange[]): readonly HTMLElement[] {
  const rows = changes.flatMap(({ crawler, disallowed, allowed }) => [
    ...disallowed.map((change) => ({ crawler, answer: 'disallowed', sign: '✗', change }) as const),
    ...allowed.map((change) => ({ crawler, answer: 'allowed', sign: '✓', change }) as const),
  ])
  const groups = Map.groupBy(rows, ({ answer, change }) => JSON.stringify([answer, change]))
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const names = [first, ...others].map(({ crawler }) => crawlerTitle(crawler))
    return [changeNode(namesText(names), first.sign, first.answer, first.change)]
  })
}

function namesText(names: readonly string[]): string {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more crawlers`] : names
  const last = shown.at(-1)
  return shown.length === 1 ? `${last}` : `${shown.slice(0, -1).join(', ')} and ${last}`
}

function changeNode(
  name: string,
  sign: string,
  answer: 'allowed' | 'disallowed',
  { count: number, file, line, rule, examples }: LineChange,
): HTMLElement {
  const become = number === 1 ? 'becomes' : 'become'
  const by =
    line === undefined
      ? 'because no rule decides any more'
      : `${file === 'new' ? 'by' : 'without'} line ${line} of the ${file === 'new' ? 'new' : 'earlier'} file, ${rule}`
  return el(
    'li',
    {},
    el('span', { class: `pg-badge pg-${answer}` }, `${sign} ${number.toLocaleString('en')} ${become} ${answer}`),
    ` for ${name} ${by}`,
    el('span', { class: 'pg-why' }, `such as ${examples.join(', ')}`),
  )
}
