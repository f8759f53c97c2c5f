// Types for the parts of other libraries that we call. Most libraries have no types. The types of
// robots-parser describe an ES module, but it is CommonJS.

declare module 'robots-parser' {
  export interface Robots {
    isAllowed(url: string, userAgent: string): boolean | undefined
  }
  export default function robotsParser(robotsUrl: string, text: string): Robots
}

declare module 'robots-txt-parse' {
  import type { Readable } from 'node:stream'
  import type { Config } from 'robots-txt-guard'

  export default function parse(content: Readable): Promise<Config>
}

declare module 'robots-txt-guard' {
  export interface Config {
    readonly groups: readonly object[]
  }
  export interface Guard {
    isAllowed(userAgent: string, path: string): boolean
  }
  export default function makeGuard(config: Config): Guard
}

declare module 'robots-txt-parser' {
  export interface Robots {
    parseRobots(key: string, text: string): void
    canCrawlSync(url: string): boolean
  }
  export default function robotsTxtParser(options: { readonly userAgent: string }): Robots
}

declare module 'robots' {
  export class RobotsParser {
    parse(lines: readonly string[]): RobotsParser
    canFetchSync(userAgent: string, path: string): boolean
  }
  const robots: { readonly RobotsParser: typeof RobotsParser }
  export default robots
}
