// What the user takes away: a link, a command, a file of expectations, a test, JSON.
import { linkHash, MAX_LINK_LENGTH, stateText } from '@politely/playground/link'
import {
  cellCommand,
  expectationsText,
  jsonText,
  matrixCommand,
  shellText,
  vitestText,
} from '@politely/playground/outputs'
import type { PlaygroundState } from '@politely/playground/state'
import { el, setText } from './dom.ts'
import type { Shown, View } from './shown.ts'

interface Output {
  readonly id: string
  readonly title: string
  /** The name of the file to download. */
  readonly file: string
  readonly text: (state: PlaygroundState) => string | Promise<string>
  readonly note: string
}

const OUTPUTS: readonly Output[] = [
  {
    id: 'link',
    title: 'Link',
    file: 'playground.json',
    text: linkText,
    note: 'The link holds the file, the URLs and the crawlers. They are behind the #, which browsers send to no server.',
  },
  {
    id: 'command',
    title: 'Command',
    file: 'check-robots.sh',
    text: commandText,
    note: 'Gives the same verdicts. Save the file of the editor as robots.txt beside it (and the earlier file as robots.before.txt).',
  },
  {
    id: 'expectations',
    title: 'Expectations',
    file: 'robots.expect',
    text: expectationsText,
    note: 'For politely test, in CI: it fails as soon as a verdict changes.',
  },
  {
    id: 'vitest',
    title: 'Vitest',
    file: 'robots.test.ts',
    text: vitestText,
    note: 'Reads the robots.txt beside it. Needs @politely/core and vitest.',
  },
  {
    id: 'json',
    title: 'JSON',
    file: 'verdicts.json',
    text: jsonText,
    note: 'Each verdict with its reason, and the file.',
  },
]

async function linkText(state: PlaygroundState): Promise<string> {
  return new URL(await linkHash(state), location.href).href
}

function commandText(state: PlaygroundState): string {
  const cell = cellCommand(state)
  const explain = cell === undefined ? '' : `# the open cell\n${shellText(cell)}\n`
  return `${explain}# the matrix\n${shellText(matrixCommand(state))}`
}

export class OutputsView implements View {
  readonly element: HTMLElement
  readonly #tabs: readonly HTMLButtonElement[]
  readonly #text = el('textarea', {
    readonly: true,
    rows: '8',
    spellcheck: 'false',
    wrap: 'off',
    'aria-label': 'The exported text',
  })
  readonly #note = el('p', { class: 'pg-note' })
  readonly #status = el('span', { role: 'status', class: 'pg-status' })
  readonly #details: HTMLDetailsElement
  #chosen: Output = OUTPUTS[0] as Output
  #shown: Shown | undefined

  constructor() {
    this.#tabs = OUTPUTS.map((output) =>
      el(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: `pg-tab-${output.id}`,
          'aria-controls': 'pg-output',
          click: () => this.#choose(output),
        },
        output.title,
      ),
    )
    const tablist = el(
      'div',
      {
        role: 'tablist',
        'aria-label': 'Formats',
        class: 'pg-tabs',
        keydown: (event: KeyboardEvent) => this.#onKey(event),
      },
      ...this.#tabs,
    )
    this.#details = el(
      'details',
      { class: 'pg-outputs', toggle: () => void this.#write() },
      el('summary', {}, el('h2', {}, 'Share and export')),
      tablist,
      el(
        'div',
        { role: 'tabpanel', id: 'pg-output' },
        this.#note,
        this.#text,
        el(
          'div',
          { class: 'pg-actions' },
          el('button', { type: 'button', click: () => void this.#copy() }, 'Copy'),
          el('button', { type: 'button', click: () => this.#download() }, 'Download'),
          this.#status,
        ),
      ),
    )
    this.element = this.#details
    this.#choose(this.#chosen)
  }

  render(shown: Shown): void {
    this.#shown = shown
    void this.#write()
  }

  /** Copies the link, and returns what to tell the user. */
  async copyLink(): Promise<string> {
    if (this.#shown === undefined) return ''
    const link = await linkText(this.#shown.state)
    const length = new URL(link).hash.length
    if (length > MAX_LINK_LENGTH) {
      this.#details.open = true
      this.#choose(OUTPUTS[0] as Output)
      return tooLong(length)
    }
    return (await copied(link))
      ? 'The link is copied.'
      : 'The browser did not allow to copy; the link is in the address bar.'
  }

  #choose(output: Output): void {
    this.#chosen = output
    for (const [i, tab] of this.#tabs.entries()) {
      const isChosen = OUTPUTS[i] === output
      tab.setAttribute('aria-selected', String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
    }
    this.#details.querySelector('#pg-output')?.setAttribute('aria-labelledby', `pg-tab-${output.id}`)
    setText(this.#status, '')
    void this.#write()
  }

  #onKey(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = (OUTPUTS.indexOf(this.#chosen) + step + OUTPUTS.length) % OUTPUTS.length
    this.#choose(OUTPUTS[at] as Output)
    this.#tabs[at]?.focus()
  }

  async #write(): Promise<void> {
    if (this.#shown === undefined || !this.#details.open) return
    const { state } = this.#shown
    const chosen = this.#chosen
    const text = await chosen.text(state)
    if (chosen !== this.#chosen || state !== this.#shown.state) return // something newer is being written
    const length = chosen.id === 'link' ? new URL(text).hash.length : 0
    setText(this.#note, length > MAX_LINK_LENGTH ? tooLong(length) : chosen.note)
    this.#text.value = text
  }

  async #copy(): Promise<void> {
    setText(
      this.#status,
      (await copied(this.#text.value)) ? 'Copied.' : 'The browser did not allow it; copy the text by hand.',
    )
  }

  #download(): void {
    const { id, file } = this.#chosen
    download(file, id === 'link' && this.#shown ? stateText(this.#shown.state) : this.#text.value)
  }
}

function tooLong(length: number): string {
  return `This link has ${length.toLocaleString('en')} characters. Mail programs and chats cut links off at about ${MAX_LINK_LENGTH.toLocaleString('en')}, so send a file instead: Download writes one, which can be dropped on this page.`
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  el('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
