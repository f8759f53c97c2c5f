// What the death of a browser does to those that wait for it, for each way in which Puppeteer gets hold of one.
import { browserDeathTests } from '@politely/testkit/browser-cases'
import { isFullRun } from '@politely/testkit/scope'
import { describe, test } from 'vitest'
import { connect, launch, noChromium } from './puppeteer-under-test.ts'

describe.skipIf(noChromium || !isFullRun).each([
  ['launch', launch],
  ['connect', connect],
] as const)('Puppeteer’s %s', (_, open) => {
  for (const { name, play } of browserDeathTests) test(name, () => play(() => open()))
})
