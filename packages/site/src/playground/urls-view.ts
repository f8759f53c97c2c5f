// The URLs of the matrix, one on each line.
import { readIntake } from '@politely/playground/intake'
import { boundedUrls, cutText, originsIn, urlsIn } from '@politely/playground/state'
import { el, setText } from './dom.ts'
import type { Shown, Update, View } from './shown.ts'

export class UrlsView implements View {
  readonly element: HTMLElement
  readonly #text: HTMLTextAreaElement
  /** What was cut off, and whether one robots.txt can be for all of the URLs. */
  readonly #remark = el('p', { class: 'pg-note', role: 'status' })
  #urls: readonly string[] = []

  /** @param onIntake Called with what was pasted. @param fileButton Opens a file. */
  constructor(update: Update, onIntake: (text: string) => void, fileButton: HTMLElement) {
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
        const text = event.clipboardData?.getData('text/plain') ?? ''
        const intake = readIntake(text, '')
        if (intake.kind === 'urls' && intake.from === 'list') return
        if (intake.kind === 'nothing' && !text.includes('\n')) return
        event.preventDefault()
        onIntake(text)
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
        'One on each line. Paste or drop a list, a sitemap or an access log.',
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
