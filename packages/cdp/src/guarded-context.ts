// Finds out whether a request belongs to the guarded context. In doubt it does: a request of the
// guarded context is never sent without a check.
import type { BrowserScope } from './browser-guard.ts'
import type { Pages } from './pages.ts'
import { send, waitForPages, withSession } from './session.ts'

/**
 * Returns a function that returns whether a context may be the guarded one. As long as the ID of the
 * guarded context is not known, this is every context except those whose pages the driver lists
 * elsewhere.
 */
export function guardedContext(scope: BrowserScope, pages: Pages): (contextId: string) => Promise<boolean> {
  /** The context IDs of pages outside the scope. */
  const others = new Set<string | undefined>()
  const lookUpOthers = async () => {
    // In this order: a page that opens meanwhile must not seem to be outside the scope.
    const all = await scope.browser.pages()
    const own = await scope.pages()
    const ownObjects = new Set(own.map(({ driverObject }) => driverObject))
    const lookUp = all.map(async (page) => {
      if (ownObjects.has(page.driverObject as never)) return
      const identify = withSession(page, (session) => send(session, 'Target.getTargetInfo'))
      await waitForPages(
        identify.then((found) => others.add(found?.targetInfo.browserContextId)).catch(() => undefined),
      )
    })
    await Promise.all([...lookUp, ...own.map((page) => pages.add(page).catch(() => undefined))])
  }
  const ownId = async () => scope.contextId ?? (await pages.contextId())
  return async (contextId) => {
    if ((await ownId()) === undefined && !others.has(contextId)) await lookUpOthers()
    const own = await ownId()
    return own === undefined ? !others.has(contextId) : own === contextId
  }
}
