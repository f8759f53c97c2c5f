// The playground. The page playground.astro loads this module and has an empty element for it.
//
// Everything is computed here: the page makes no request after it is loaded, and its
// Content-Security-Policy forbids them. So it also works offline once it is open.
//
//   state ──> shownOf ──> each view renders what changed
//     ^                     │
//     └──────  update  <────┘
import { type DialectName, dialects } from '@politely/core'
import type { Intake, readIntake } from '@politely/playground/intake'
import { linkHash, MAX_LINK_LENGTH, type OpenedLink, openLink, stateIn, stateText } from '@politely/playground/link'
import { bounded, MAX_ROBOTS_LENGTH, type PlaygroundState, startState } from '@politely/playground/state'
import { changedVerdicts } from './changed-verdicts.ts'
import { ComparisonView } from './comparison-view.ts'
import { CrawlersView } from './crawlers-view.ts'
import { count, el, setText } from './dom.ts'
import { EditorSlot } from './editor-slot.ts'
import { acceptDrops, fileButton, readFile } from './files.ts'
import { FindingsView } from './findings-view.ts'
import { galleryElement } from './gallery-view.ts'
import { MatrixView } from './matrix-view.ts'
import { OutputsView } from './outputs-view.ts'
import { DIALECT_TITLES, PanelView } from './panel-view.ts'
import './playground.css'
import { type Shown, shownOf, type View } from './shown.ts'
import { UrlsView } from './urls-view.ts'

/** How long after the last change the address bar gets the new link. */
const LINK_DELAY_MS = 500

/** Browsers keep no more than some megabytes in an entry of the history. Characters. */
const MAX_KEPT_LENGTH = 4_000_000

/** How long after the last change the changed verdicts are announced. */
const ANNOUNCE_DELAY_MS = 700

/** Windows that have space for all inputs. As in playground.css. */
const WIDE = '(min-width: 40.01rem)'

/** A matrix with more columns is below the file and the URLs, as wide as the page. */
const MAX_NARROW_COLUMNS = 4

class Playground {
  readonly #mount: HTMLElement
  readonly #status = el('p', { role: 'status', class: 'pg-status' })
  readonly #live = el('p', { 'aria-live': 'polite', class: 'pg-visually-hidden', id: 'pg-live' })
  readonly #dialect = el(
    'select',
    { id: 'pg-dialect', change: () => this.#update({ dialect: this.#dialect.value as DialectName }) },
    ...(Object.keys(dialects) as DialectName[]).map((name) => el('option', { value: name }, DIALECT_TITLES[name])),
  )
  readonly #compare = el(
    'button',
    { type: 'button', click: () => this.#startComparison() },
    'Compare with an earlier file',
  )
  readonly #keep = el('button', { type: 'button', click: () => this.#keepAsEarlier() }, 'Keep this as the earlier file')
  readonly #editor: EditorSlot
  readonly #findings: FindingsView
  readonly #matrix: MatrixView
  readonly #panel: PanelView
  readonly #comparison: ComparisonView
  readonly #outputs = new OutputsView()
  readonly #views: View[]
  readonly #usage = el('div', { class: 'pg-usage' })
  /** On a phone the inputs are folded, so that the first verdicts are on the first screen. */
  readonly #inputs = el('details', { class: 'pg-setup' })
  readonly #inputsTitle = el('summary')
  #shown: Shown
  /** Loaded later, because it has a parser of XML. */
  #readIntake: typeof readIntake | undefined
  #linkTimer: ReturnType<typeof setTimeout> | undefined
  #announceTimer: ReturnType<typeof setTimeout> | undefined
  /** The verdicts that were announced last. */
  #announced: Shown

  constructor(mount: HTMLElement, state: PlaygroundState) {
    this.#mount = mount
    this.#shown = shownOf(state)
    this.#announced = this.#shown
    const update = (change: Partial<PlaygroundState>) => this.#update(change)
    this.#editor = new EditorSlot({
      text: state.robots,
      label: 'robots.txt',
      onChange: (robots) => this.#onTyped(robots),
      onFix: (fix) => this.#findings.apply(fix),
    })
    const goTo = (line: number) => this.#editor.goTo(line)
    this.#findings = new FindingsView(update, () => this.#editor)
    this.#matrix = new MatrixView(update, (byKey) => this.#onOpened(byKey))
    this.#panel = new PanelView(goTo, () => this.#matrix.focus())
    const openUrls = fileButton('Open…', (file) => void this.#takeFile(file))
    const urls = new UrlsView(update, (text) => this.#takePasted(text), openUrls)
    const crawlers = new CrawlersView(update)
    this.#comparison = new ComparisonView(
      update,
      fileButton('Open…', (file) => void this.#takeEarlier(file)),
    )
    this.#views = [urls, crawlers, this.#comparison, this.#matrix, this.#panel, this.#findings, this.#outputs]
    this.#inputs.append(
      this.#inputsTitle,
      el('div', { class: 'pg-inputs' }, urls.element, crawlers.element, crawlers.details),
    )
    const wide = matchMedia(WIDE)
    this.#inputs.open = wide.matches
    wide.addEventListener('change', () => {
      this.#inputs.open = wide.matches
    })
    const openRobots = fileButton('Open…', (file) => void this.#takeFile(file))
    const copyLink = el(
      'button',
      { type: 'button', class: 'pg-primary', click: () => void this.#copyLink() },
      'Copy link',
    )
    mount.replaceChildren(
      el(
        'div',
        { class: 'pg-bar' },
        el(
          'p',
          { class: 'pg-intro' },
          'Which line decides, for each URL and crawler. What you type stays in this page.',
        ),
        el(
          'span',
          { class: 'pg-actions' },
          this.#compare,
          this.#keep,
          el('a', { href: '#pg-gallery', click: (event: Event) => openGallery(event) }, 'Real mistakes'),
          copyLink,
        ),
      ),
      this.#status,
      this.#live,
      el(
        'div',
        { class: 'pg-columns' },
        el(
          'div',
          { class: 'pg-left' },
          el(
            'section',
            { class: 'pg-file', 'aria-labelledby': 'pg-file' },
            el(
              'div',
              { class: 'pg-head' },
              el('h2', { id: 'pg-file' }, 'robots.txt'),
              el('label', { for: 'pg-dialect' }, 'read as'),
              this.#dialect,
              openRobots,
            ),
            this.#editor.element,
          ),
          this.#findings.element,
        ),
        el(
          'div',
          { class: 'pg-right' },
          this.#inputs,
          this.#comparison.element,
          this.#matrix.element,
          this.#panel.element,
          this.#usage,
        ),
      ),
      this.#outputs.element,
      galleryElement(),
    )
    acceptDrops(
      mount,
      (file, target, files) => void this.#takeDropped(file, target, files),
      (text) => void this.#read(text, ''),
    )
    this.#render(true)
    performance.mark('first-verdict')
    void this.#load()
  }

  /** Loads what the first verdicts do not need. Afterwards the page needs no network. */
  async #load(): Promise<void> {
    await this.#editor.load()
    this.#readIntake = (await import('@politely/playground/intake')).readIntake
    const { UsageView } = await import('./usage-view.ts')
    const usage = new UsageView((change) => this.#update(change))
    this.#usage.append(usage.element)
    this.#views.push(usage)
    usage.render(this.#shown)
    this.#mount.dataset.loaded = 'true'
  }

  /** Opens the state of a link. */
  open(state: PlaygroundState): void {
    clearTimeout(this.#linkTimer) // the address bar has the link
    this.#shown = shownOf(bounded(state))
    this.#announced = this.#shown
    this.#editor.setText(this.#shown.state.robots)
    this.#render(true)
  }

  say(text: string): void {
    setText(this.#status, text)
  }

  #update(change: Partial<PlaygroundState>): void {
    this.#shown = shownOf(bounded({ ...this.#shown.state, ...change }))
    this.#render('open' in change && change.open !== undefined)
    this.#announceSoon()
    this.#linkSoon()
  }

  /** @param isScrolledTo Whether the editor shows the line that decides. */
  #render(isScrolledTo: boolean): void {
    const { state, report } = this.#shown
    for (const view of this.#views) view.render(this.#shown)
    const { urls, crawlers } = state
    setText(this.#inputsTitle, `${count(urls.length, 'URL')}, ${count(crawlers.length, 'crawler')}: change`)
    if (urls.length * crawlers.length === 0) this.#inputs.open = true
    this.#mount.classList.toggle('pg-wide', crawlers.length > MAX_NARROW_COLUMNS)
    this.#dialect.value = state.dialect
    this.#compare.hidden = state.before !== undefined
    this.#keep.hidden = state.before === undefined
    const [, ...losing] = report?.matches ?? []
    this.#editor.setMarks(
      { deciding: report?.line, losing: losing.map(({ line }) => line), groups: report?.groupLines ?? [] },
      isScrolledTo,
    )
    this.#editor.setBefore(state.before)
  }

  #onOpened(byKey: boolean): void {
    if (byKey) this.#panel.focus()
    else this.#panel.show()
  }

  #onTyped(robots: string): void {
    if (robots !== this.#shown.state.robots) this.#update({ robots })
    if (robots.length > MAX_ROBOTS_LENGTH) this.say('Only the first 500 KiB of this file are read, as crawlers do.')
  }

  #startComparison(): void {
    this.#update({ before: this.#shown.state.robots })
    this.#comparison.focus()
    this.say(
      'The earlier file is a copy of this file now: paste the file that is live, or edit this file and see what changes.',
    )
  }

  #keepAsEarlier(): void {
    this.#update({ before: this.#shown.state.robots })
    this.say('Kept. Edit the file, and see which verdicts change.')
  }

  async #copyLink(): Promise<void> {
    await this.#writeLink()
    this.say(await this.#outputs.copyLink())
  }

  async #takeDropped(file: File, target: EventTarget | null, files: number): Promise<void> {
    await (isIn(this.#comparison.element, target) ? this.#takeEarlier(file) : this.#takeFile(file))
    if (files > 1)
      this.say(`${this.#status.textContent} Of ${files} files, only ${file.name} was read; drop one at a time.`.trim())
  }

  async #takeFile(file: File): Promise<void> {
    const { name, text, note } = await readFile(file)
    if (text === '' && note !== '') return this.say(note)
    await this.#read(text, name, note)
  }

  async #takeEarlier(file: File): Promise<void> {
    const { text, note } = await readFile(file)
    this.#update({ before: text })
    this.say(note)
  }

  async #read(text: string, name: string, note = ''): Promise<void> {
    const { readIntake } = await import('@politely/playground/intake')
    this.#take(readIntake(text, name), note)
  }

  /** Returns whether more was pasted than a list, and was read. */
  #takePasted(text: string): boolean {
    const intake = this.#readIntake?.(text, '')
    const isList = intake === undefined || (intake.kind === 'urls' && intake.from === 'list')
    if (isList || (intake.kind === 'nothing' && !text.includes('\n'))) return false
    this.#take(intake)
    return true
  }

  #take(intake: Intake, note = ''): void {
    if (intake.kind === 'robots') this.#editor.setText(intake.text)
    else if (intake.kind === 'urls') this.#update({ urls: intake.urls, open: undefined })
    else if (intake.kind === 'state') {
      this.open(intake.state)
      this.#linkSoon()
    }
    this.say(`${intake.note} ${note}`.trim())
  }

  #announceSoon(): void {
    clearTimeout(this.#announceTimer)
    this.#announceTimer = setTimeout(() => {
      const text = changedVerdicts(this.#announced, this.#shown)
      this.#announced = this.#shown
      if (text !== '') setText(this.#live, text)
    }, ANNOUNCE_DELAY_MS)
  }

  /** Puts the link of the state back into the address bar. */
  restoreLink(): void {
    this.#linkSoon()
  }

  #linkSoon(): void {
    clearTimeout(this.#linkTimer)
    this.#linkTimer = setTimeout(() => void this.#writeLink(), LINK_DELAY_MS)
  }

  /**
   * Puts the link of the state into the address bar, so that a reload opens it again. If the link is
   * too long, the entry of the history keeps the state.
   */
  async #writeLink(): Promise<void> {
    const { state } = this.#shown
    const hash = await linkHash(state)
    if (hash.length <= MAX_LINK_LENGTH) return history.replaceState(null, '', hash)
    const text = stateText(state)
    history.replaceState(text.length <= MAX_KEPT_LENGTH ? text : null, '', location.pathname)
  }
}

function isIn(element: Element, target: EventTarget | null): boolean {
  return target instanceof Node && element.contains(target)
}

function openGallery(event: Event): void {
  event.preventDefault()
  const gallery = document.querySelector<HTMLDetailsElement>('#pg-gallery')
  if (gallery === null) return
  gallery.open = true
  gallery.scrollIntoView()
  gallery.querySelector('a')?.focus({ preventScroll: true })
}

/** Opens what the entry of the history keeps, else the link of the address bar, else the start state. */
async function openAddress(): Promise<OpenedLink> {
  const kept = typeof history.state === 'string' ? stateIn(history.state) : undefined
  if (kept !== undefined) return { state: kept }
  const opened = isElement(location.hash) ? undefined : await openLink(location.hash)
  return opened ?? { state: startState }
}

/** Returns whether a hash names an element of the page, as the link "Skip to content" does. */
function isElement(hash: string): boolean {
  return document.getElementById(hash.slice(1)) !== null
}

async function start(mount: HTMLElement): Promise<void> {
  const opened = await openAddress()
  const playground = new Playground(mount, 'state' in opened ? opened.state : startState)
  if ('problem' in opened) playground.say(`${opened.problem} This is the start page instead.`)
  else if (opened.note !== undefined) playground.say(opened.note)
  addEventListener('hashchange', async () => {
    if (isElement(location.hash)) return playground.restoreLink()
    const next = await openAddress()
    if ('problem' in next) return playground.say(next.problem)
    playground.open(next.state)
    playground.say(next.note ?? '')
    scrollTo(0, 0)
  })
}

const mount = document.querySelector<HTMLElement>('#playground')
if (mount !== null) void start(mount)
