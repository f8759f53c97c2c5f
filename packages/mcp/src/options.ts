import type { LookupFunction } from 'node:net'

/** The options of `FetchTools`. */
export interface FetchToolsOptions {
  /**
   * Your User-Agent, such as `YourMCP/1.0 (+https://your.site/mcp)`. Its name gets a suffix:
   * YourMCP-Autonomous for requests of the model, YourMCP-User for requests of a person.
   */
  readonly userAgent: string
  /** The minimum delay between two requests to one origin, in milliseconds. Default 1,000. */
  readonly minDelayMs?: number | undefined
  /**
   * The time limit for one page, including its wait, in milliseconds. Default 50,000, because MCP
   * clients time out after 60 seconds.
   */
  readonly timeoutMs?: number | undefined
  /** The most bytes of a decompressed page to read. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How many times to retry robots.txt after a temporary failure. Default 2. */
  readonly retries?: number | undefined
  /**
   * Private addresses and blocks, such as `10.0.0.0/8`, to which connections are allowed. Default
   * none.
   */
  readonly allowAddresses?: readonly string[] | undefined
  /** A resolver with the interface of `dns.lookup`. Default: the system's. */
  readonly lookup?: LookupFunction | undefined
}

/** The names of all options. */
export const FETCH_TOOLS_OPTIONS: Readonly<Record<keyof FetchToolsOptions, true>> = {
  userAgent: true,
  minDelayMs: true,
  timeoutMs: true,
  maxBodyBytes: true,
  retries: true,
  allowAddresses: true,
  lookup: true,
}
