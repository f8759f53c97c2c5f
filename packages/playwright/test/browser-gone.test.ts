// What the death of a browser does to those that wait for it, for each way in which Playwright gets hold of one.
import { browserDeathTests } from '@politely/testkit/browser-cases'
import { isFullRun } from '@politely/testkit/scope'
import { describe, test } from 'vitest'
import { launch, noChromium } from './playwright-under-test.ts'

// The contract plays them with `launch`.
const ways = isFullRun ? (['connect', 'connectOverCDP'] as const) : (['connect'] as const)

describe.skipIf(noChromium).each(ways)('Playwright’s %s', (way) => {
  for (const { name, play } of browserDeathTests) test(name, () => play(() => launch(way)))
})
