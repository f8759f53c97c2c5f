// The interface to a browser driver: the parts of Playwright, Puppeteer and similar drivers that
// the guard uses. A driver's object has this form itself, or an adapter wraps it.
import { withTimeout } from '@politely/fetcher/internal'
import type { PausedRequest } from './paused-request.ts'

/**
 * A target of the DevTools protocol: a page, a frame in its own process, or a worker. Only the
 * fields that the guard reads.
 */
export interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly subtype?: string | undefined
  readonly browserContextId?: string | undefined
  readonly url?: string | undefined
  /** The target of the page that opened a popup. */
  readonly openerId?: string | undefined
  /** The frame around a frame in its own process. */
  readonly parentFrameId?: string | undefined
}

/** The frames of a page that share its process. */
export interface FrameTree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly FrameTree[] | undefined
}

/** The methods that the guard calls, and the fields of their results that it reads. */
interface MethodResults {
  'Fetch.continueRequest': unknown
  'Fetch.continueResponse': unknown
  'Fetch.disable': unknown
  'Fetch.enable': unknown
  'Fetch.failRequest': unknown
  'Fetch.getResponseBody': unknown
  'Storage.clearDataForOrigin': unknown
  'Page.addScriptToEvaluateOnNewDocument': unknown
  'Page.enable': unknown
  'Page.getFrameTree': { readonly frameTree: FrameTree }
  'Target.attachToTarget': { readonly sessionId: string }
  'Target.detachFromTarget': unknown
  'Target.sendMessageToTarget': unknown
  'Target.getTargetInfo': { readonly targetInfo: TargetInfo }
  'Target.setDiscoverTargets': unknown
}

/** The events that the guard listens to. */
interface EventParameters {
  'Fetch.requestPaused': PausedRequest
  'Target.detachedFromTarget': { readonly sessionId: string; readonly targetId?: string | undefined }
  'Target.receivedMessageFromTarget': { readonly sessionId: string; readonly message: string }
  'Target.targetCrashed': { readonly targetId: string }
  'Target.targetCreated': { readonly targetInfo: TargetInfo }
  'Target.targetDestroyed': { readonly targetId: string }
  'Target.targetInfoChanged': { readonly targetInfo: TargetInfo }
}

/** A session of the DevTools protocol. */
export interface DriverSession {
  send(method: string, parameters?: object): Promise<unknown>
  on(event: string, listener: (parameters: unknown) => void): unknown
  detach(): Promise<void>
}

interface DriverConnection {
  on(event: 'sessiondetached', listener: (session: unknown) => void): unknown
  off(event: 'sessiondetached', listener: (session: unknown) => void): unknown
}

/**
 * Calls `onDetached` when the session is detached, if the driver reports that: Playwright with an
 * event of the session, Puppeteer with an event of its connection.
 */
export function listenForDetach(
  session: DriverSession & { connection?(): DriverConnection | undefined },
  onDetached: () => void,
): void {
  session.on('close', onDetached)
  const connection = session.connection?.()
  const onSession = (detached: unknown) => {
    if (detached !== session) return
    connection?.off('sessiondetached', onSession)
    onDetached()
  }
  connection?.on('sessiondetached', onSession)
}

/** A session of the guard's own with a page. */
export type TargetSession = Pick<DriverSession, 'send'>

/** A page of a driver, with the operations that each driver does in its own way. */
export interface DriverPage {
  /** The driver's own page object. */
  readonly driverObject: object
  newSession(): Promise<DriverSession>
  /** Returns whether the page can no longer be used: it is closed, or its browser is gone. */
  isClosed(): boolean
}

/** A browser of a driver, with the operations that each driver does in its own way. */
export interface DriverBrowser {
  /** The driver's own browser object. Each one has one `Traffic`. */
  readonly driverObject: object
  /** Opens a session with the browser itself, not with one of its pages. */
  newSession(): Promise<DriverSession>
  /** Returns all open pages of all contexts. */
  pages(): Promise<readonly DriverPage[]>
  /** Returns whether the driver is still connected to the browser. */
  isConnected(): boolean
}

/**
 * Returns whether the browser still responds. A driver may learn that its pages are gone before it
 * learns that the browser is gone.
 */
export async function isResponding(browser: DriverBrowser): Promise<boolean> {
  if (!browser.isConnected()) return false
  const session = await browser.newSession().catch(() => undefined)
  await session?.detach().catch(() => undefined)
  return session !== undefined
}

export function send<M extends keyof MethodResults>(
  session: TargetSession,
  method: M,
  parameters?: object,
): Promise<MethodResults[M]> {
  return session.send(method, parameters) as Promise<MethodResults[M]>
}

export function listen<E extends keyof EventParameters>(
  session: DriverSession,
  event: E,
  listener: (parameters: EventParameters[E]) => void,
): void {
  session.on(event, (parameters) => listener(parameters as EventParameters[E]))
}

/**
 * How long to wait for pages. Milliseconds; our choice. A page that runs an endless loop or shows a
 * dialog does not respond. It obeys the commands that it has got when it responds again, or in its
 * next document.
 */
const MAX_REPLY_MS = 1_000

/** Waits for a command that pages must reply to, but not for pages that do not respond. */
export async function waitForPages(command: Promise<unknown>): Promise<void> {
  await withTimeout(command, MAX_REPLY_MS, () => undefined)
}

/**
 * Waits like `waitForPages` for a change that resolves with a function that reverts it. Returns a
 * function that reverts it once it is made.
 */
export async function changePages(change: Promise<() => Promise<void>>): Promise<() => Promise<void>> {
  await waitForPages(change)
  return async () => (await change.catch(() => undefined))?.()
}

/**
 * Runs `work` with a session of the page, then detaches the session. Resolves with undefined if the
 * page was closed meanwhile. `work` has no time limit, and it may send commands that a page does
 * not reply to.
 */
export async function withSession<T>(
  page: DriverPage,
  work: (session: DriverSession) => Promise<T>,
): Promise<T | undefined> {
  try {
    const session = await page.newSession()
    try {
      return await work(session)
    } finally {
      await waitForPages(session.detach()) // Playwright sends a command to the page first
    }
  } catch (error) {
    if (page.isClosed()) return undefined
    throw error
  }
}
