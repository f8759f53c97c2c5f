// @module-tag full
// @module-tag browser
// The traffic of a browser, with a listener that the test controls.
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trafficOf } from '../src/index.ts'
import type { RequestListener } from '../src/internal.ts'
import { Chromium, noChromium } from './driver.ts'

const HOME = 'http://localhost:PORT'

describe.skipIf(noChromium)('traffic', () => {
  let chromium: Chromium
  let sites: Sites

  beforeAll(async () => {
    chromium = new Chromium()
    sites = await startSites()
  })

  afterAll(async () => {
    await chromium.close()
    await sites.close()
  })

  it('keeps its session open until every paused request has its outcome', async () => {
    const [requested, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<'Aborted'>()]
    const listener: RequestListener = {
      contexts: 'all',
      onRequest: () => {
        requested.resolve()
        return decided.promise
      },
      onResponse: () => undefined,
      onCanceled: () => undefined,
      onTargetClosed: () => undefined,
    }
    const page = await chromium.newPage()
    await trafficOf(chromium).add(listener)
    const visit = page.goto(sites.withPort(`${HOME}/`)).catch((error: unknown) => error)
    await requested.promise
    const removed = trafficOf(chromium).remove(listener)
    await chromium.send('Browser.getVersion', {}) // the browser has processed every earlier command
    decided.resolve('Aborted')
    await removed
    expect(await visit).toMatchObject({ message: 'net::ERR_ABORTED' })
    expect(sites.requestedUrls).toEqual([])
  })
})
