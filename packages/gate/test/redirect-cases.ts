// Cases of redirects, and how each ends in the three redirect modes of fetch. Tests run them with
// every way to fetch, and write them as a table into docs/polite-fetch.md.

export type Mode = 'follow' | 'manual' | 'error'

export interface RedirectRow {
  readonly name: string
  readonly method?: 'POST'
  readonly status: number
  /**
   * The target. `SITE`, `OTHER` and `INSIDE` stand for origins; `INSIDE` is a public name at a
   * private address.
   */
  readonly to: string
  /** The requests that the server gets with `follow`. In the other modes it gets only the first. */
  readonly requests: readonly string[]
  /** The outcome with `follow`: a status, a refusal by robots.txt, or an error of fetch. */
  readonly follow: '200' | 'refused' | 'fails'
}

export const redirectRows: readonly RedirectRow[] = [
  { name: 'to the same origin', status: 302, to: '/end', requests: ['GET /go', 'GET /end'], follow: '200' },
  { name: 'to another origin', status: 302, to: 'OTHER/end', requests: ['GET /go', 'GET OTHER/end'], follow: '200' },
  { name: 'to a disallowed URL', status: 302, to: '/private', requests: ['GET /go'], follow: 'refused' },
  {
    name: 'to a disallowed URL of another origin',
    status: 302,
    to: 'OTHER/private',
    requests: ['GET /go'],
    follow: 'refused',
  },
  { name: 'to a blocked address', status: 302, to: 'INSIDE/end', requests: ['GET /go'], follow: 'refused' },
  { name: 'to its own URL: a loop', status: 302, to: 'GO', requests: Array(21).fill('GET /go'), follow: 'fails' },
  {
    name: 'of a POST, with status 303',
    method: 'POST',
    status: 303,
    to: '/end',
    requests: ['POST /go x', 'GET /end'],
    follow: '200',
  },
  {
    name: 'of a POST, with status 307',
    method: 'POST',
    status: 307,
    to: '/end',
    requests: ['POST /go x', 'POST /end x'],
    follow: '200',
  },
  {
    name: 'of a POST, with status 307, to a disallowed URL',
    method: 'POST',
    status: 307,
    to: '/private',
    requests: ['POST /go x'],
    follow: 'refused',
  },
]

/** Returns how a case ends in a mode. */
export function outcomeOf(row: RedirectRow, mode: Mode): string {
  return mode === 'follow' ? row.follow : mode === 'manual' ? String(row.status) : 'fails'
}

/** Returns the requests that the server gets in a mode. */
export function requestsOf(row: RedirectRow, mode: Mode): readonly string[] {
  return mode === 'follow' ? row.requests : row.requests.slice(0, 1)
}

/** Returns the text for a table cell of the documentation. */
export function cellOf(row: RedirectRow, mode: Mode): string {
  const requests = requestsOf(row, mode)
  const methods = requests.map((line) => line.split(' ')[0])
  const summary = requests.length > 2 ? `${requests.length} requests` : methods.join(', ')
  const outcome = outcomeOf(row, mode)
  const meaning = { refused: '`RobotsDisallowedError`', fails: '`TypeError`' }[outcome] ?? outcome
  return `${summary}; ${meaning}`
}
