// Whose a frame is: which browser context the sender of a request belongs to.
import type { Browser, CDPSession, Page, Protocol } from 'puppeteer-core'

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
    const known = () => this.#targets.get(frameId)?.contextId ?? this.#inner.get(frameId)
    if (known() === undefined) await this.#looking
    if (known() === undefined) await this.#look()
    return known()
  }

  /** Asks all pages for their frames. */
  #look(): Promise<void> {
    const looking = this.#lookIntoAll().finally(() => {
      if (this.#looking === looking) this.#looking = undefined
    })
    this.#looking = looking
    return looking
  }

  async #lookIntoAll(): Promise<void> {
    const pages = await this.#browser.pages().catch(() => []) // none, where it is gone
    await Promise.all(pages.map((page) => this.#lookInto(page)))
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

function framesIn({ frame, childFrames = [] }: Protocol.Page.FrameTree): string[] {
  return [frame.id, ...childFrames.flatMap(framesIn)]
}

/** Asks something of a page; undefined where it has been closed meanwhile. */
export async function ask<T>(page: Page, question: (session: CDPSession) => Promise<T>): Promise<T | undefined> {
  try {
    const session = await page.createCDPSession()
    const answer = await question(session)
    await session.detach()
    return answer
  } catch (error) {
    if (page.isClosed() || !page.browser().connected) return undefined
    throw error
  }
}
