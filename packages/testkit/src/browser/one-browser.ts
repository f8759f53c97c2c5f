// One browser for all tests of a group, because a launch takes a second.
import { afterAll, afterEach, beforeEach } from 'vitest'
import type { BrowserUnderTest } from './browser-under-test.ts'

/**
 * Launches a browser for the tests of this group, and returns what gives it to them. The next test
 * gets another browser if this one has crashed, and if a test has failed: pages that still load, or
 * that hang, must not disturb other tests.
 */
export function useOneBrowser<B extends BrowserUnderTest>(launch: () => Promise<B>): () => B {
  let browser: B | undefined
  beforeEach(async () => {
    if (!browser?.isConnected()) browser = await launch()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail' || !browser?.isConnected()) return
    const last = browser
    browser = undefined // it is connected for a moment after the kill
    await last.kill()
  })
  afterAll(() => browser?.close())
  return () => browser as B // it is there from the first test on
}
