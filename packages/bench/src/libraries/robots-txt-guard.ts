import { Readable } from 'node:stream'
import makeGuard, { type Guard } from 'robots-txt-guard'
import parse from 'robots-txt-parse'
import { CRAWLER, type Library, library, pathIn } from './library.ts'

/** With robots-txt-parse, as its page says. That one reads streams only, so preparing takes turns of the event loop too. */
export const robotsTxtGuard: Library<Guard> = library(
  'robots-txt-guard',
  'sample',
  async (text) => makeGuard(await parse(Readable.from([text]))),
  (guard, url) => guard.isAllowed(CRAWLER, pathIn(url)),
)
