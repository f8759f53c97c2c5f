// The pages of a context: which targets they are, and what their `goto` rejects with.
import type { Page } from 'playwright-core'
import { ask } from './frames.ts'
import type { Guard } from './guard.ts'

interface Identity {
  readonly targetId: string
  readonly contextId: string | undefined
}

const NAVIGATING = ['goto', 'reload', 'goBack', 'goForward'] as const

type Navigate = (...args: unknown[]) => Promise<unknown>

export class Pages {
  readonly #guard: Guard
  readonly #identities = new Map<Page, Promise<Identity | undefined>>()
  readonly #restoring = new Map<Page, () => void>()
  #contextId: string | undefined

  constructor(guard: Guard) {
    this.#guard = guard
  }

  /** Of the context that they are in, as soon as there is one of them. */
  async contextId(): Promise<string | undefined> {
    for (const identity of this.#identities.values()) {
      if (this.#contextId !== undefined) break
      this.#contextId = (await identity.catch(() => undefined))?.contextId
    }
    return this.#contextId
  }

  add(page: Page): void {
    const identity = identityOf(page)
    identity.catch(() => undefined) // `goto` tells it
    this.#identities.set(page, identity)
    this.#restoring.set(page, this.#wrap(page, identity))
    page.once('close', () => {
      this.#identities.delete(page)
      this.#restoring.delete(page)
    })
  }

  /** Gives them their own methods back. */
  close(): void {
    for (const restore of this.#restoring.values()) restore()
    this.#restoring.clear()
  }

  #wrap(page: Page, identity: Promise<Identity | undefined>): () => void {
    const methods = page as unknown as Record<string, Navigate>
    const guard = this.#guard
    let calls = 0
    const wrapped = NAVIGATING.map((name) => {
      const original = page[name] as Navigate
      const navigate: Navigate = async (...args) => {
        const call = ++calls
        const targetId = (await identity)?.targetId
        if (targetId !== undefined) guard.forget(targetId)
        try {
          return await original.apply(page, args)
        } catch (error) {
          // Another call has taken this one's place, and what is known now is about that.
          if (targetId === undefined || call !== calls) throw error
          if (hasGivenUp(error, args)) guard.abandon(targetId)
          throw withCause(guard.failureOf(targetId), error)
        }
      }
      methods[name] = navigate
      return { name, navigate }
    })
    return () => {
      for (const { name, navigate } of wrapped) if (methods[name] === navigate) delete methods[name]
    }
  }
}

async function identityOf(page: Page): Promise<Identity | undefined> {
  return ask(page, async (session) => {
    const { targetInfo } = await session.send('Target.getTargetInfo')
    return { targetId: targetInfo.targetId, contextId: targetInfo.browserContextId }
  })
}

/** Did the caller stop waiting? The browser would go on. */
function hasGivenUp(error: unknown, args: readonly unknown[]): boolean {
  if (error instanceof Error && error.name === 'TimeoutError') return true
  const { signal } = (args.at(-1) ?? {}) as { readonly signal?: AbortSignal }
  return signal?.aborted === true
}

/** Ours, if there is one, with Playwright's as its cause: that knows the line of the caller. */
function withCause(ours: unknown, playwrights: unknown): unknown {
  if (ours === undefined) return playwrights
  if (ours instanceof Error) ours.cause ??= playwrights
  return ours
}
