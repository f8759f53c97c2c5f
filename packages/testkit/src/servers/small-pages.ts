// Responses of test sites, for browsers and for HTTP clients.
import type { Reply } from './sites.ts'

/** Returns an HTML page. It contains its icon, so that no browser requests one. */
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
