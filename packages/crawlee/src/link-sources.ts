// Remembers which page a request comes from, so that a public page can't lead the crawler to a
// private host.
//
// Crawlee doesn't keep the page of a link. So a queue marks the requests that a handler adds, in
// their `userData`, which Crawlee stores with the request: `enqueueLinks`, `addRequests`, clicks
// and the methods of the queue itself end there. Only links to private hosts need a mark, and only
// on public pages.
//
//   a handler of https://shop.example.com/ adds http://127.0.0.1/admin
//   -> userData.politely.redirectedFrom is ['https://shop.example.com']
//   -> the RobotsClient refuses the request when its turn comes
import type { Request } from '@crawlee/basic'
import type { RobotsClient } from '@politely/fetcher'
import { clientPort, isPrivateHost } from '@politely/fetcher/internal'
import type { AddingQueue } from './crawlee-internals.ts'
import { currentTask } from './pool-task.ts'

type Page = Pick<Request, 'url' | 'loadedUrl' | 'userData'>
type Added = string | { readonly url?: string | undefined; userData?: Record<string, unknown> | undefined }

/** Returns the public origin that led to a request. Empty if the request is the caller's own. */
export function linkSourcesOf(request: Pick<Page, 'userData'> | undefined): readonly string[] {
  const { redirectedFrom } = (request?.userData?.politely ?? {}) as { readonly redirectedFrom?: unknown }
  if (!Array.isArray(redirectedFrom)) return []
  return redirectedFrom.filter((url) => typeof url === 'string' && URL.canParse(url)) // the queue may be shared
}

/**
 * Returns the public origin that led to a link of a page. Empty for a link to a public host, and for
 * a page of the caller's own network.
 * @param page Default: the page of the current task, if the caller runs in one.
 */
export function linkSources(
  robots: RobotsClient,
  url: string,
  page: Page | undefined = currentTask()?.request,
): readonly string[] {
  const target = URL.parse(url)
  if (page === undefined || target === null || !isPrivateHost(target.hostname)) return []
  const { linkSources: sources } = clientPort(robots)
  return sources(page.loadedUrl ?? page.url, sources(page.url, linkSourcesOf(page)))
}

const markingQueues = new WeakSet<object>()

/** Makes a queue mark the requests that are added to it in a task. */
export function markLinks(queue: Partial<AddingQueue>, robots: RobotsClient): void {
  const { addRequest, addRequests } = queue
  if (markingQueues.has(queue) || addRequest === undefined || addRequests === undefined) return
  markingQueues.add(queue)
  queue.addRequest = (request, ...options) => addRequest.call(queue, marked(request as Added, robots), ...options)
  queue.addRequests = (requests, ...options) => addRequests.call(queue, allMarked(requests, robots), ...options)
}

async function* allMarked(requests: AsyncIterable<unknown> | Iterable<unknown>, robots: RobotsClient) {
  for await (const request of requests) yield marked(request as Added, robots)
}

function marked(added: Added, robots: RobotsClient): Added {
  const url = typeof added === 'string' ? added : added.url
  const redirectedFrom = url === undefined ? [] : linkSources(robots, url)
  if (redirectedFrom.length === 0) return added
  const request = typeof added === 'string' ? { url: added } : added
  const { userData } = request
  const politely = { ...(userData?.politely as object | undefined), redirectedFrom }
  if (userData === undefined || !('pushErrorMessage' in request))
    return { ...request, userData: { ...userData, politely } }
  userData.politely = politely // of a Request, which is the caller's only one
  return request
}
