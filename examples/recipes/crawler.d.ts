// node-crawler 2.1 comes without types. As much of it as the recipe needs.
declare module 'crawler' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingHttpHeaders } from 'node:http'

  /** What got takes is passed on to it. */
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
