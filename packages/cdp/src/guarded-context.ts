// Finds out whether a request belongs to the guarded context. In doubt it does: a request of the
// guarded context is never sent without a check.
import type { Pages } from './pages.ts'
import { type DriverPage, send, waitForPages, withSession } from './session.ts'

/** The part of a `BrowserScope` that tells contexts apart. */
interface ContextScope {
  readonly contextId?: string | undefined
  otherPages?(): Promise<readonly DriverPage[]>
}

/**
 * Returns a function that returns whether a context may be the guarded one. While the ID of the
 * guarded context is unknown, this is every context but those of `otherPages`.
 */
export function guardedContext(scope: ContextScope, pages: Pages): (contextId: string) => Promise<boolean> {
  const others = new Set<string | undefined>()
  const lookUpOthers = async () => {
    const lookUp = async (page: DriverPage) => {
      const found = await withSession(page, (session) => send(session, 'Target.getTargetInfo'))
      others.add(found?.targetInfo.browserContextId)
    }
    const looked = (await scope.otherPages?.())?.map((page) => waitForPages(lookUp(page)).catch(() => undefined))
    await Promise.all(looked ?? [])
  }
  const ownId = async () => scope.contextId ?? (await pages.contextId())
  return async (contextId) => {
    if ((await ownId()) === undefined && !others.has(contextId)) await lookUpOthers()
    const own = await ownId()
    return own === undefined ? !others.has(contextId) : own === contextId
  }
}
