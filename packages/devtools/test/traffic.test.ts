// The traffic of a browser, with guests of the test's own.
import { type Sites, startSites } from '@politely/testkit/sites'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RequestListener, trafficOf } from '../src/index.ts'
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

  it('ends when all requests that stood still have been told what becomes of them', async () => {
    const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<'Aborted'>()]
    const guest: RequestListener = {
      owns: 'all',
      request: () => {
        asked.resolve()
        return decided.promise
      },
      answered: () => undefined,
      lost: () => undefined,
      gone: () => undefined,
    }
    const page = await chromium.newPage()
    await trafficOf(chromium).add(guest)
    const visit = page.goto(sites.withPort(`${HOME}/`)).catch((error: unknown) => error)
    await asked.promise
    const removed = trafficOf(chromium).remove(guest)
    await chromium.send('Browser.getVersion', {}) // whatever was sent before has arrived
    decided.resolve('Aborted')
    await removed
    expect(await visit).toMatchObject({ message: 'net::ERR_ABORTED' })
    expect(sites.asked).toEqual([])
  })
})
