// The names of attributes. Those without `politely` are from OpenTelemetry's semantic conventions.

export const ATTRIBUTES = {
  /** Of a check: `allowed` or `disallowed`. */
  verdict: 'politely.verdict',
  /** Why: the reason of a verdict, or what a request waits for. */
  because: 'politely.because',
  /** The state of an origin after a fetch. */
  state: 'politely.state',
  /** What became of the last attempt to fetch robots.txt: `success`, `unavailable` and so on. */
  outcome: 'politely.outcome',
  /** The level of a limit that a request waits for, such as `origin` or `domain`. */
  level: 'politely.level',
  origin: 'politely.origin',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  status: 'http.response.status_code',
  url: 'url.full',
} as const
