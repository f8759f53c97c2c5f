// Whose a frame is: which browser context the sender of a request belongs to.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ask,
  type DriverBrowser,
  type DriverPage,
  type DriverSession,
  type FrameTree,
  listen,
  send,
  type TargetInfo,
} from './session.ts'

/** How many frames without a process of their own are remembered. */
const MAX_FRAMES = 10_000

/** How long a page is waited for that is asked for its frames, and a driver that is asked for its pages. Milliseconds; our choice. */
const MAX_ASKING_MS = 1_000

export class Frames {
  readonly #browser: DriverBrowser
  readonly #targets = new Map<string, TargetInfo>()
  /** Frames that are no targets, since they share a process with their page, and their contexts. */
  readonly #inner = new Map<string, string>()
  /** Who did not answer in time: a page that has crashed never does, one that is busy may take long, and a driver may wait for such a page. */
  readonly #silent = new WeakSet<object>()
  #looking: Promise<void> | undefined

  /** @param gone Hears of each target that is closed, or has crashed. */
  constructor(browser: DriverBrowser, session: DriverSession, gone: (targetId: string) => void) {
    this.#browser = browser
    listen(session, 'Target.targetCreated', ({ targetInfo }) => this.#targets.set(targetInfo.targetId, targetInfo))
    listen(session, 'Target.targetDestroyed', ({ targetId }) => {
      this.#targets.delete(targetId)
      gone(targetId)
    })
    listen(session, 'Target.targetCrashed', ({ targetId }) => gone(targetId))
  }

  /** `page` for the main frame of one. Undefined for a frame that shares a process with its page. */
  typeOf(frameId: string): string | undefined {
    return this.#targets.get(frameId)?.type
  }

  /** The context of a frame, or of a worker. Undefined where nobody knows it. */
  async contextOf(frameId: string): Promise<string | undefined> {
    const known = () => this.#targets.get(frameId)?.browserContextId ?? this.#onlyContext() ?? this.#inner.get(frameId)
    const looking = this.#looking
    if (known() === undefined) await looking
    if (known() === undefined && this.#looking === looking) this.#looking = this.#look()
    if (known() === undefined) await this.#looking
    return known()
  }

  /** In most browsers all pages are of one context. */
  #onlyContext(): string | undefined {
    let only: string | undefined
    for (const { type, browserContextId } of this.#targets.values()) {
      if (type !== 'page') continue
      if (only !== undefined && only !== browserContextId) return undefined
      only = browserContextId
    }
    return only
  }

  /** Asks all pages for their frames. What cannot be asked is not known. */
  async #look(): Promise<void> {
    let pages: readonly DriverPage[] = []
    await this.#inTime(this.#browser.own, async () => {
      pages = await this.#browser.pages()
    })
    await Promise.all(pages.map((page) => this.#inTime(page.own, () => this.#lookInto(page))))
  }

  /** Asks somebody something. Who did not answer in time is not asked again before that answer is there. */
  async #inTime(whom: object, question: () => Promise<void>): Promise<void> {
    if (this.#silent.has(whom)) return
    const answered = question()
      .catch(() => undefined)
      .then(() => void this.#silent.delete(whom))
    const late = sleep(MAX_ASKING_MS, 'late', { ref: false })
    if ((await Promise.race([answered, late])) === 'late') this.#silent.add(whom)
  }

  async #lookInto(page: DriverPage): Promise<void> {
    const found = await ask(page, async (session) => {
      const [{ targetInfo }, { frameTree }] = await Promise.all([
        send(session, 'Target.getTargetInfo'),
        send(session, 'Page.getFrameTree'),
      ])
      return { contextId: targetInfo.browserContextId, frameTree }
    })
    if (found?.contextId === undefined) return
    if (this.#inner.size > MAX_FRAMES) this.#inner.clear() // they are found again
    for (const frameId of framesIn(found.frameTree)) this.#inner.set(frameId, found.contextId)
  }
}

function framesIn({ frame, childFrames = [] }: FrameTree): string[] {
  return [frame.id, ...childFrames.flatMap(framesIn)]
}
