// Answers of a small web that a browser visits as well as a client does.
import type { Reply } from './sites.ts'

/** A page of HTML; its icon is in it, so that no browser asks for one. */
export function htmlPage(body = '', headers: Reply['headers'] = {}): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'text/html', ...headers },
    body: `<!doctype html><link rel="icon" href="data:,"><title>a page</title><body>${body}`,
  }
}

export function scriptOf(body: string): Reply {
  return { status: 200, headers: { 'content-type': 'text/javascript' }, body }
}

export function redirectTo(location: string, status = 302): Reply {
  return { status, headers: { location } }
}
