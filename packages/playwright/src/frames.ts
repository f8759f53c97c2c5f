// Whose a frame is: which browser context the sender of a request belongs to.
import type { Browser, CDPSession, Page } from 'playwright-core'

/** What the DevTools protocol calls a target, as far as it is looked at: a page, a frame in a process of its own, a worker. */
interface Target {
  readonly type: string
  readonly contextId: string | undefined
}

/** How many frames without a process of their own are remembered. */
const MAX_FRAMES = 10_000

export class Frames {
  readonly #browser: Browser
  readonly #targets = new Map<string, Target>()
  /** Frames that are no targets, since they share a process with their page, and their contexts. */
  readonly #inner = new Map<string, string>()
  #looking: Promise<void> | undefined

  /** @param gone Hears of each target that is closed, or has crashed. */
  constructor(browser: Browser, session: CDPSession, gone: (targetId: string) => void) {
    this.#browser = browser
    session.on('Target.targetCreated', ({ targetInfo: { targetId, type, browserContextId } }) => {
      this.#targets.set(targetId, { type, contextId: browserContextId })
    })
    session.on('Target.targetDestroyed', ({ targetId }) => {
      this.#targets.delete(targetId)
      gone(targetId)
    })
    session.on('Target.targetCrashed', ({ targetId }) => gone(targetId))
  }

  /** `page` for the main frame of one. Undefined for a frame that shares a process with its page. */
  typeOf(frameId: string): string | undefined {
    return this.#targets.get(frameId)?.type
  }

  /** The context of a frame, or of a worker. Undefined where nobody knows it. */
  async contextOf(frameId: string): Promise<string | undefined> {
    const known = () => this.#targets.get(frameId)?.contextId ?? this.#onlyContext() ?? this.#inner.get(frameId)
    if (known() === undefined) await this.#looking
    if (known() === undefined) await this.#look()
    return known()
  }

  /** In most browsers all pages are of one context. */
  #onlyContext(): string | undefined {
    let only: string | undefined
    for (const { type, contextId } of this.#targets.values()) {
      if (type !== 'page') continue
      if (only !== undefined && only !== contextId) return undefined
      only = contextId
    }
    return only
  }

  /** Asks all pages for their frames. */
  #look(): Promise<void> {
    const pages = this.#browser.contexts().flatMap((context) => context.pages())
    const looks = Promise.all(pages.map((page) => this.#lookInto(page)))
    const looking = looks.then(
      () => undefined,
      () => undefined, // then it is not known
    )
    this.#looking = looking
    return looking
  }

  async #lookInto(page: Page): Promise<void> {
    const found = await ask(page, async (session) => {
      const [{ targetInfo }, { frameTree }] = await Promise.all([
        session.send('Target.getTargetInfo'),
        session.send('Page.getFrameTree'),
      ])
      return { contextId: targetInfo.browserContextId, frameTree }
    })
    if (found?.contextId === undefined) return
    if (this.#inner.size > MAX_FRAMES) this.#inner.clear() // they are found again
    for (const frameId of framesIn(found.frameTree)) this.#inner.set(frameId, found.contextId)
  }
}

interface FrameTree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly FrameTree[] | undefined
}

function framesIn({ frame, childFrames = [] }: FrameTree): string[] {
  return [frame.id, ...childFrames.flatMap(framesIn)]
}

/** Asks something of a page; undefined where it has been closed meanwhile. */
export async function ask<T>(page: Page, question: (session: CDPSession) => Promise<T>): Promise<T | undefined> {
  try {
    const session = await page.context().newCDPSession(page)
    try {
      return await question(session)
    } finally {
      await session.detach()
    }
  } catch (error) {
    if (page.isClosed() || page.context().browser()?.isConnected() !== true) return undefined
    throw error
  }
}
