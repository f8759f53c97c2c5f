// The sessions of a guard with the browser are detached, one after the other.
import assert from 'node:assert/strict'
import { htmlPage, redirectTo } from '../servers/small-pages.ts'
import { assertRefused, type BrowserCase, RULES } from './browser-fixture.ts'

export const lostSessionCase: BrowserCase = {
  name: 'when a session of the guard with the browser is detached, requests are still checked',
  browser: 'own',
  web: { '/robots.txt': RULES, '/open': htmlPage(), '/hop': redirectTo('/private') },
  run: async ({ browser, tab, at }) => {
    await tab.goto(at('/open'))
    for (let i = 0; i < 4; i++) {
      await browser.sessions[i]?.detach()
      const fetched = await tab.evaluate(`fetch('/private/${i}').then(() => 'sent', () => 'failed')`)
      assert.deepEqual([i, fetched], [i, 'failed'])
      await assertRefused(browser, tab.goto(at('/hop')))
      await tab.goto(at('/open'))
    }
    assert.ok(browser.sessions.length >= 6, 'the guard has opened no other session')
  },
}

interface Session {
  detach(): Promise<unknown>
}

/** Returns the sessions that a method of a driver's object opens from now on, in order. */
export function recordSessions<M extends string>(
  driverObject: { [name in M]: () => Promise<Session> },
  method: M,
  sessions: Session[] = [],
): readonly Session[] {
  const open = driverObject[method].bind(driverObject)
  driverObject[method] = (async () => {
    const session = await open()
    sessions.push(session)
    return session
  }) as (typeof driverObject)[M]
  return sessions
}
