// What a page of Chromium asks for, held until it may go on: the Fetch domain of the DevTools protocol. Each hop of a
// redirect is held, too.
import { OptionError } from '@politely/core'

/** A session of Playwright's or of Puppeteer's. */
interface Session {
  send(method: string, parameters?: object): Promise<unknown>
  on(event: string, listener: (event: never) => void): unknown
}

/** A page of either. */
export interface DevtoolsPage {
  /** Puppeteer's. */
  createCDPSession?(): Promise<Session>
  /** Playwright's. */
  context?(): { newCDPSession(page: unknown): Promise<Session> }
  once(event: 'close', listener: () => void): unknown
}

/** `Fetch.requestPaused`: a request that is held before it is made, or its answer. */
interface Paused {
  readonly requestId: string
  readonly networkId?: string
  readonly request: { readonly url: string }
  readonly frameId: string
  readonly resourceType: string
  readonly responseErrorReason?: string
  readonly responseStatusCode?: number
  readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[]
}

export interface HeldRequest {
  /** The same for all hops of one request, and for their answers. */
  readonly id: string
  readonly url: string
  /** Whether it is for the page itself, and not for something in it. */
  readonly isPage: boolean
}

export interface SeenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export interface PageWatch {
  /** Whether a request may go on. It never rejects. */
  allows(request: HeldRequest): Promise<boolean>
  /** The headers of an answer for the page itself are there; undefined where there is none. */
  answered(id: string, answer: SeenAnswer | undefined): void
}

const EVERYTHING = [
  { urlPattern: '*', requestStage: 'Request' },
  { urlPattern: '*', resourceType: 'Document', requestStage: 'Response' },
]

/** From now on, what the page asks for is held until the watch has decided. */
export async function watchPage(page: DevtoolsPage, watch: PageWatch): Promise<void> {
  const session = await sessionOf(page)
  const { frameTree } = (await session.send('Page.getFrameTree')) as { frameTree: { frame: { id: string } } }
  const decide = async (paused: Paused): Promise<void> => {
    const { requestId, networkId, request, frameId, resourceType } = paused
    const id = networkId ?? requestId
    const isPage = resourceType === 'Document' && frameId === frameTree.frame.id
    if (paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined) {
      if (isPage) watch.answered(id, answerOf(paused))
      await session.send('Fetch.continueRequest', { requestId })
      return
    }
    const allowed = !isAsked(request.url) || (await watch.allows({ id, url: request.url, isPage }))
    if (allowed) await session.send('Fetch.continueRequest', { requestId })
    else await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
  }
  // It rejects where the page is gone, and its requests with it.
  session.on('Fetch.requestPaused', (paused: Paused) => void decide(paused).catch(() => undefined))
  await session.send('Fetch.enable', { patterns: EVERYTHING })
}

async function sessionOf(page: DevtoolsPage): Promise<Session> {
  if (page.createCDPSession !== undefined) return page.createCDPSession()
  try {
    return await (page.context as NonNullable<DevtoolsPage['context']>).call(page).newCDPSession(page)
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const how = "write pageRequests: 'leave', and have another hook stop its redirects"
    throw new OptionError('pageRequests', `check needs a browser with the DevTools protocol (${what}); ${how}`)
  }
}

/** `data:`, `blob:` and the like need no network. */
function isAsked(url: string): boolean {
  return url.startsWith('http:') || url.startsWith('https:')
}

function answerOf({ responseStatusCode, responseHeaders = [] }: Paused): SeenAnswer | undefined {
  if (responseStatusCode === undefined) return undefined
  const headers = Object.fromEntries(responseHeaders.map(({ name, value }) => [name.toLowerCase(), value]))
  return { status: responseStatusCode, headers }
}
