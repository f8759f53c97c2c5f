// The libraries of the comparison: all libraries on npm that install and work on current Node. Of a
// library and its forks and wrappers, only the original takes part.
import { exclusion } from './exclusion.ts'
import type { Library } from './library.ts'
import { naiveMatcher } from './naive-walk.ts'
import { politely } from './politely.ts'
import { robotsLibrary } from './robots.ts'
import { robotsParserLibrary } from './robots-parser.ts'
import { robotsTxtGuard } from './robots-txt-guard.ts'
import { robotsTxtParserLibrary } from './robots-txt-parser.ts'

/** Ours first. */
export const libraries: readonly Library[] = [
  politely,
  robotsParserLibrary,
  robotsTxtGuard,
  robotsTxtParserLibrary,
  exclusion,
  robotsLibrary,
  naiveMatcher,
]

export const ours: Library = politely
/** Ratios are relative to this library. */
export const reference: Library = robotsParserLibrary
