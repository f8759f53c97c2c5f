// How a driver of a browser is spoken to: as much of Playwright, Puppeteer and the like as is used, in their own forms or wrapped.
import type { PausedRequest } from './paused-request.ts'

/** What the DevTools protocol calls a target, as far as it is looked at: a page, a frame in a process of its own, a worker. */
export interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly browserContextId?: string | undefined
}

/** The frames of a page that share its process. */
export interface FrameTree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly FrameTree[] | undefined
}

/** What is asked, and as much of the answers as is looked at. */
interface Answers {
  'Fetch.continueRequest': unknown
  'Fetch.continueResponse': unknown
  'Fetch.disable': unknown
  'Fetch.enable': unknown
  'Fetch.failRequest': unknown
  'Fetch.getResponseBody': unknown
  'Storage.clearDataForOrigin': unknown
  'Page.getFrameTree': { readonly frameTree: FrameTree }
  'Target.getTargetInfo': { readonly targetInfo: TargetInfo }
  'Target.setDiscoverTargets': unknown
}

/** What is heard. */
interface Events {
  'Fetch.requestPaused': PausedRequest
  'Target.targetCrashed': { readonly targetId: string }
  'Target.targetCreated': { readonly targetInfo: TargetInfo }
  'Target.targetDestroyed': { readonly targetId: string }
}

/** A session of the DevTools protocol. */
export interface DriverSession {
  send(method: string, parameters?: object): Promise<unknown>
  on(event: string, listener: (told: unknown) => void): unknown
  detach(): Promise<void>
}

/** A page, as a driver has it, and what has to be asked in its own way. */
export interface DriverPage {
  /** The driver's own object. */
  readonly own: object
  newSession(): Promise<DriverSession>
  /** Whether nothing can be asked of it any more: it is closed, or its browser has gone. */
  isGone(): boolean
}

export interface DriverBrowser {
  /** The driver's own object: there is one traffic for each. */
  readonly own: object
  /** A session with the browser itself, and not with one of its pages. */
  newSession(): Promise<DriverSession>
  /** All that are open, whatever context they are in. */
  pages(): Promise<readonly DriverPage[]>
  isConnected(): boolean
}

/** Whether the browser still answers. A driver may learn that its pages are gone before it learns that the browser is. */
export async function answers(browser: DriverBrowser): Promise<boolean> {
  if (!browser.isConnected()) return false
  const session = await browser.newSession().catch(() => undefined)
  await session?.detach().catch(() => undefined)
  return session !== undefined
}

export function send<M extends keyof Answers>(
  session: DriverSession,
  method: M,
  parameters?: object,
): Promise<Answers[M]> {
  return session.send(method, parameters) as Promise<Answers[M]>
}

export function listen<E extends keyof Events>(
  session: DriverSession,
  event: E,
  hear: (told: Events[E]) => void,
): void {
  session.on(event, (told) => hear(told as Events[E]))
}

/** Asks something of a page; undefined where it has been closed meanwhile. */
export async function ask<T>(
  page: DriverPage,
  question: (session: DriverSession) => Promise<T>,
): Promise<T | undefined> {
  try {
    const session = await page.newSession()
    try {
      return await question(session)
    } finally {
      await session.detach()
    }
  } catch (error) {
    if (page.isGone()) return undefined
    throw error
  }
}
