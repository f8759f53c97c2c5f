import { Readable } from 'node:stream'
import makeGuard, { type Guard } from 'robots-txt-guard'
import parse from 'robots-txt-parse'
import { CRAWLER } from '../crawler.ts'
import { type Library, library, pathOf } from './library.ts'

/**
 * Uses robots-txt-parse, as its documentation says. That package reads streams only, so parsing
 * takes several turns of the event loop.
 */
export const robotsTxtGuard: Library<Guard> = library(
  'robots-txt-guard',
  'sample',
  async (text) => makeGuard(await parse(Readable.from([text]))),
  (guard, url) => guard.isAllowed(CRAWLER, pathOf(url)),
)
