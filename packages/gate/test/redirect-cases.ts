// What becomes of a redirect, by where it leads and by fetch's three modes: rows for every way to fetch, and for the documentation.

export type Mode = 'follow' | 'manual' | 'error'

export interface RedirectRow {
  readonly name: string
  readonly method?: 'POST'
  readonly status: number
  /** `SITE`, `OTHER` and `INSIDE` stand for origins; the last one is a public name at a private address. */
  readonly to: string
  /** What is asked for, where redirects are followed; the first of it in the other modes. */
  readonly asked: readonly string[]
  /** What comes of it where redirects are followed: a status, a refusal by robots.txt, or fetch's own failure. */
  readonly follow: '200' | 'refused' | 'fails'
}

export const redirectRows: readonly RedirectRow[] = [
  { name: 'the same origin', status: 302, to: '/end', asked: ['GET /go', 'GET /end'], follow: '200' },
  { name: 'another origin', status: 302, to: 'OTHER/end', asked: ['GET /go', 'GET OTHER/end'], follow: '200' },
  { name: 'what is disallowed', status: 302, to: '/private', asked: ['GET /go'], follow: 'refused' },
  { name: 'what another origin disallows', status: 302, to: 'OTHER/private', asked: ['GET /go'], follow: 'refused' },
  { name: 'a blocked address', status: 302, to: 'INSIDE/end', asked: ['GET /go'], follow: 'refused' },
  { name: 'itself: a loop', status: 302, to: 'GO', asked: Array(21).fill('GET /go'), follow: 'fails' },
  { name: 'a POST, 303', method: 'POST', status: 303, to: '/end', asked: ['POST /go x', 'GET /end'], follow: '200' },
  { name: 'a POST, 307', method: 'POST', status: 307, to: '/end', asked: ['POST /go x', 'POST /end x'], follow: '200' },
  {
    name: 'a POST, 307, disallowed',
    method: 'POST',
    status: 307,
    to: '/private',
    asked: ['POST /go x'],
    follow: 'refused',
  },
]

/** What comes of a row in a mode. */
export function outcomeOf(row: RedirectRow, mode: Mode): string {
  return mode === 'follow' ? row.follow : mode === 'manual' ? String(row.status) : 'fails'
}

/** What is asked for of a row in a mode. */
export function askedOf(row: RedirectRow, mode: Mode): readonly string[] {
  return mode === 'follow' ? row.asked : row.asked.slice(0, 1)
}

/** For people. */
export function cellOf(row: RedirectRow, mode: Mode): string {
  const asked = askedOf(row, mode)
  const requests = asked.length > 2 ? `${asked.length} requests` : asked.map((line) => line.split(' ')[0]).join(', ')
  const outcome = outcomeOf(row, mode)
  const meaning = { refused: '`RobotsDisallowedError`', fails: '`TypeError`' }[outcome] ?? outcome
  return `${requests}; ${meaning}`
}
