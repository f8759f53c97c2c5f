// Types for node-crawler 2.1, which has none. Only the parts that the recipe uses.
declare module 'crawler' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingHttpHeaders } from 'node:http'

  /** node-crawler passes options of got to got. */
  export interface CrawlerOptions {
    url?: string
    userAgents?: string | string[]
    retries?: number
    retryInterval?: number
    timeout?: number
    jQuery?: boolean
    silence?: boolean
    maxConnections?: number
    signal?: AbortSignal
    http2?: boolean
    agent?: object
    hooks?: object
    preRequest?: (options: CrawlerOptions, go: (error: Error | null) => void) => void
    callback?: (error: Error | null, response: CrawlerResponse, done: () => void) => void
  }

  export interface CrawlerResponse {
    statusCode: number
    headers: IncomingHttpHeaders
    body: string
    options: CrawlerOptions
  }

  export default class Crawler extends EventEmitter<{ request: [CrawlerOptions]; drain: [] }> {
    constructor(options?: CrawlerOptions)
    add(options: CrawlerOptions | string): void
    send(options: CrawlerOptions | string): Promise<CrawlerResponse>
  }
}
