// The pages of a browser, or of a context: which targets they are, and what their `goto` rejects with.
import type { Browser, BrowserContext, Page, Target } from 'puppeteer-core'
import { ask } from './frames.ts'
import type { Guard } from './guard.ts'
import { LEAVE_OUT_SPECULATION_RULES } from './speculation-rules.ts'

/** What is known of a page; nothing where it was closed at once. */
interface Known {
  readonly targetId: string
  /** The script that runs in each of its documents. */
  readonly scriptId: string
}

const NAVIGATING = ['goto', 'reload', 'goBack', 'goForward'] as const

type Navigate = (...args: unknown[]) => Promise<unknown>

export class Pages {
  readonly #guard: Guard
  readonly #place: Browser | BrowserContext
  readonly #undo = new Map<Page, () => Promise<void>>()

  constructor(guard: Guard, place: Browser | BrowserContext) {
    this.#guard = guard
    this.#place = place
  }

  /** Those that are open. Others are added as they come. */
  async start(): Promise<readonly Page[]> {
    this.#listen('on')
    const pages = await this.#place.pages()
    await Promise.all(pages.map((page) => this.#add(page)))
    return pages
  }

  /** Gives them their own methods back. */
  async close(): Promise<void> {
    this.#listen('off')
    await Promise.all(Array.from(this.#undo.values(), (undo) => undo()))
  }

  /** A browser and a context tell of new targets alike, and TypeScript does not see it. */
  #listen(onOrOff: 'on' | 'off'): void {
    const place = this.#place as BrowserContext
    place[onOrOff]('targetcreated', this.#come)
  }

  readonly #come = (target: Target): void => {
    if ((target.type() as string) !== 'page') return
    // A target that is gone has no page; and who navigates a page is told what became of it here.
    target.page().then(
      (page) => page && this.#add(page).catch(() => undefined),
      () => undefined,
    )
  }

  #add(page: Page): Promise<unknown> {
    if (this.#undo.has(page)) return Promise.resolve()
    const known = learn(page)
    const restore = this.#wrap(page, known)
    this.#undo.set(page, async () => {
      restore()
      const scriptId = (await known.catch(() => undefined))?.scriptId
      if (scriptId === undefined || page.isClosed() || !page.browser().connected) return
      await page.removeScriptToEvaluateOnNewDocument(scriptId)
    })
    page.once('error', () => this.#undo.set(page, async () => restore())) // it has crashed, and answers nothing
    page.once('close', () => this.#undo.delete(page))
    return known
  }

  #wrap(page: Page, known: Promise<Known | undefined>): () => void {
    const methods = page as unknown as Record<string, Navigate>
    const last = { call: 0 }
    const wrapped = NAVIGATING.map((name) => {
      const original = page[name] as Navigate
      const navigate: Navigate = async (...args) => {
        const call = ++last.call
        const { signal } = (args.at(-1) ?? {}) as { readonly signal?: AbortSignal }
        signal?.throwIfAborted()
        const targetId = (await known)?.targetId
        if (targetId === undefined) return original.apply(page, args)
        const guarded = () => original.apply(page, args)
        return this.#navigate({ targetId, signal, isLast: () => call === last.call }, guarded)
      }
      methods[name] = navigate
      return { name, navigate }
    })
    return () => {
      for (const { name, navigate } of wrapped) if (methods[name] === navigate) delete methods[name]
    }
  }

  async #navigate({ targetId, signal, isLast }: Call, navigate: () => Promise<unknown>): Promise<unknown> {
    // Puppeteer's own `goto` does not look at its signal while it waits for an answer.
    const givingUp = new AbortController()
    const giveUp = () => givingUp.abort()
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#guard.begin(targetId, givingUp.signal)
    try {
      const response = await navigate()
      // Puppeteer takes the error page for the one that `reload` and `goBack` wait for, and has no answer of it.
      const failure = response === null || response === undefined ? this.#guard.failureOf(targetId) : undefined
      if (failure !== undefined && isLast()) throw failure
      this.#guard.over(targetId, givingUp.signal, 'goes on')
      return response
    } catch (error) {
      const isGivenUp = signal?.aborted === true || (error instanceof Error && error.name === 'TimeoutError')
      if (isGivenUp) giveUp() // the browser would go on
      this.#guard.over(targetId, givingUp.signal, isGivenUp ? 'goes on' : 'ended')
      if (signal?.aborted) throw signal.reason
      // Another call may have taken this one's place, and what is known now is about that.
      throw isLast() ? withCause(this.#guard.failureOf(targetId), error) : error
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }
}

/** A call of `goto` and the like. */
interface Call {
  readonly targetId: string
  readonly signal: AbortSignal | undefined
  readonly isLast: () => boolean
}

async function learn(page: Page): Promise<Known | undefined> {
  return ask(page, async (session) => {
    const [{ targetInfo }, { identifier: scriptId }] = await Promise.all([
      session.send('Target.getTargetInfo'),
      page.evaluateOnNewDocument(LEAVE_OUT_SPECULATION_RULES),
    ])
    return { targetId: targetInfo.targetId, scriptId }
  })
}

/** Ours, if there is one, with Puppeteer's as its cause: that knows the line of the caller. */
function withCause(ours: unknown, puppeteers: unknown): unknown {
  if (ours === undefined) return puppeteers
  if (ours instanceof Error && ours !== puppeteers) ours.cause ??= puppeteers
  return ours
}
