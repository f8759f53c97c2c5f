// Who stands side by side. Those that the registry has, that install and that answer on a Node of today; of forks and
// wrappers only the original.
import { exclusion } from './exclusion.ts'
import type { Library } from './library.ts'
import { bareWalk, naiveWalk } from './naive-walk.ts'
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
  naiveWalk,
  bareWalk,
]

export const ours: Library = politely
/** The one that ratios are ratios to. */
export const reference: Library = robotsParserLibrary
