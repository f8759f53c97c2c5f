// The URLs of the matrix, one on each line.
import { boundedUrls, cutText, originsIn, urlsIn } from '@politely/playground/state'
import { el, setText } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

export class UrlsView implements View {
  readonly element: HTMLElement
  readonly #text: HTMLTextAreaElement
  /** What was cut off, and whether one robots.txt can be for all of the URLs. */
  readonly #remark = el('p', { class: 'pg-note', role: 'status' })
  #urls: readonly string[] = []

  /**
   * @param takePasted Takes what was pasted, unless it is a list, which the field takes itself.
   * @param fileButton Opens a file.
   */
  constructor(update: Update, takePasted: (text: string) => boolean, fileButton: HTMLElement) {
    this.#text = el('textarea', {
      id: 'pg-urls',
      rows: '5',
      spellcheck: 'false',
      autocapitalize: 'off',
      wrap: 'off',
      'aria-describedby': 'pg-urls-note',
      input: () => {
        const written = urlsIn(this.#text.value)
        this.#urls = boundedUrls(written)
        this.#say(cutText(written))
        update({ urls: this.#urls, open: undefined })
      },
      paste: (event: ClipboardEvent) => {
        if (takePasted(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault()
      },
    })
    this.element = el(
      'section',
      { 'aria-labelledby': 'pg-urls-title' },
      el(
        'div',
        { class: 'pg-head' },
        el('h2', { id: 'pg-urls-title' }, el('label', { for: 'pg-urls' }, 'URLs')),
        fileButton,
      ),
      this.#text,
      el(
        'p',
        { class: 'pg-note', id: 'pg-urls-note' },
        'One on each line. Paste or drop a list, a table, a sitemap, a feed or an access log.',
      ),
      this.#remark,
    )
  }

  render({ state: { urls } }: Shown): void {
    if (urls === this.#urls) return
    this.#urls = urls
    this.#text.value = urls.join('\n')
    this.#say('')
  }

  #say(cut: string): void {
    const origins = originsIn(this.#urls)
    const text =
      origins > 1
        ? `These URLs have ${origins.toLocaleString('en')} origins. A robots.txt is for one origin: its scheme, host and port.`
        : ''
    setText(this.#remark, `${cut} ${text}`.trim())
  }
}
