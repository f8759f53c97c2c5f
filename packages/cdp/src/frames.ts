// Finds the browser context that the sender of a request belongs to, and the documents that may have
// caused it.
import { setTimeout as sleep } from 'node:timers/promises'
import { boundedMap } from '@politely/fetcher/internal'
import type { PausedRequest } from './paused-request.ts'
import { type DriverSession, type FrameTree, listen, type TargetInfo } from './session.ts'

/**
 * How many frames are remembered: frames without their own process, and frames whose target is
 * closed.
 */
const MAX_FRAMES = 10_000

/** How long to wait for a page to list its frames. Milliseconds; our choice. */
const MAX_LOOKUP_MS = 1_000

export class Frames {
  readonly #frameTreeOf: (targetId: string) => Promise<FrameTree>
  readonly #onTargetClosed: (targetId: string) => void
  readonly #targets = new Map<string, TargetInfo>()
  /**
   * The context IDs of frames that are not targets: frames that share a process with their page,
   * and frames and workers whose target is closed. A closed page still sends requests: beacons,
   * `fetchLater`, and redirects of `fetch` with `keepalive`.
   */
  readonly #contextByFrame = boundedMap<string>(MAX_FRAMES)
  /**
   * The URL of the last document that each frame has received. The browser reports the URL of a page
   * too, but while a navigation is under way, that is the next page.
   */
  readonly #documents = boundedMap<string>(MAX_FRAMES)
  /**
   * Pages that exceeded the time limit and have not responded since. A crashed page never responds,
   * a busy page may take long.
   */
  readonly #unresponsive = new Set<string>()
  #lookup: Promise<void> | undefined

  /**
   * @param frameTreeOf Asks a page for its frames.
   * @param onTargetClosed Called for each target that is closed or has crashed.
   */
  constructor(frameTreeOf: (targetId: string) => Promise<FrameTree>, onTargetClosed: (targetId: string) => void) {
    this.#frameTreeOf = frameTreeOf
    this.#onTargetClosed = onTargetClosed
  }

  /** Follows the targets that a session reports. Several sessions may report the same ones. */
  follow(session: DriverSession): void {
    listen(session, 'Target.targetCreated', ({ targetInfo }) => this.#targets.set(targetInfo.targetId, targetInfo))
    listen(session, 'Target.targetInfoChanged', ({ targetInfo }) => {
      if (this.#targets.has(targetInfo.targetId)) this.#targets.set(targetInfo.targetId, targetInfo)
    })
    listen(session, 'Target.targetDestroyed', ({ targetId }) => {
      const contextId = this.#targets.get(targetId)?.browserContextId
      if (contextId !== undefined) this.#remember(targetId, contextId)
      this.#targets.delete(targetId)
      this.#unresponsive.delete(targetId)
      this.#onTargetClosed(targetId)
    })
    listen(session, 'Target.targetCrashed', ({ targetId }) => this.#onTargetClosed(targetId))
  }

  /** Returns the open pages of all contexts. */
  pages(): readonly TargetInfo[] {
    return [...this.#targets.values()].filter(({ type }) => type === 'page')
  }

  /**
   * Returns `page` for the main frame of a page, and undefined for a frame that shares a process
   * with its page.
   */
  targetTypeOf(frameId: string): string | undefined {
    return this.#targets.get(frameId)?.type
  }

  /**
   * Returns whether this is the main frame of a page that the browser prerenders and does not show
   * yet.
   */
  isPrerendered(frameId: string): boolean {
    return this.#targets.get(frameId)?.subtype === 'prerender'
  }

  /**
   * Returns the context ID of a frame or a worker, open or closed. Undefined if it is not
   * remembered and no page lists it.
   */
  async contextIdOf(frameId: string): Promise<string | undefined> {
    const known = () => this.knownContextIdOf(frameId)
    const lookup = this.#lookup
    if (known() === undefined) await lookup
    if (known() === undefined && this.#lookup === lookup) this.#lookup = this.#lookUpAll()
    if (known() === undefined) await this.#lookup
    return known()
  }

  /** Like `contextIdOf`, but does not ask the pages. */
  knownContextIdOf(frameId: string): string | undefined {
    return this.#targets.get(frameId)?.browserContextId ?? this.#contextByFrame.get(frameId)
  }

  /** Remembers the URL of a document that a frame is about to receive. */
  receives(frameId: string, url: string): void {
    this.#documents.set(frameId, url)
  }

  /**
   * Returns the origins of the documents that may have caused a request:
   *
   * 1. The origin in `Referer`. A page can leave this header out, but it cannot name another origin.
   * 2. Otherwise the documents of the frame, of the frames around it, and of the page that opened the
   *    window, as far as they are known.
   * 3. Otherwise, as for a window without an opener, all documents of the context. To ask the pages
   *    for their frames would take too long: a page can send any number of such requests.
   */
  sourcesOf({ frameId, request }: Pick<PausedRequest, 'frameId' | 'request'>): readonly string[] {
    const { headers = {} } = request
    const name = Object.keys(headers).find((header) => header.toLowerCase() === 'referer')
    const referrer = originsOf(name === undefined ? [] : [headers[name]])
    if (referrer.length > 0) return referrer
    const urls: (string | undefined)[] = []
    const seen = new Set<string>()
    for (let id: string | undefined = frameId; id !== undefined && !seen.has(id); ) {
      seen.add(id)
      const target = this.#targets.get(id)
      urls.push(...this.#urlsOf(id), ...this.#urlsOf(target?.openerId))
      id = target?.parentFrameId
    }
    const known = originsOf(urls)
    if (known.length > 0) return known
    const contextId = this.knownContextIdOf(frameId)
    const isNear = ({ browserContextId }: TargetInfo) => contextId === undefined || browserContextId === contextId
    return originsOf([...this.#targets.values()].filter(isNear).flatMap(({ targetId }) => this.#urlsOf(targetId)))
  }

  #urlsOf(frameId: string | undefined): readonly (string | undefined)[] {
    return frameId === undefined ? [] : [this.#documents.get(frameId), this.#targets.get(frameId)?.url]
  }

  /** Returns the context ID of all open pages if they share one, as in most browsers. */
  onlyContextId(): string | undefined {
    let only: string | undefined
    for (const { browserContextId } of this.pages()) {
      if (only !== undefined && only !== browserContextId) return undefined
      only = browserContextId
    }
    return only
  }

  /** Asks all pages for their frames. The frames of a page that does not respond stay unknown. */
  async #lookUpAll(): Promise<void> {
    await Promise.all(this.pages().map((page) => this.#lookUpPage(page)))
  }

  /**
   * Waits up to the time limit. After a timeout, the page is skipped until its late lookup settles.
   */
  async #lookUpPage({ targetId, browserContextId: contextId }: TargetInfo): Promise<void> {
    if (contextId === undefined || this.#unresponsive.has(targetId)) return
    const settled = this.#frameTreeOf(targetId)
      .then((tree) => {
        for (const frameId of frameIdsIn(tree)) this.#remember(frameId, contextId)
      })
      .catch(() => undefined)
      .then(() => void this.#unresponsive.delete(targetId))
    const timeout = sleep(MAX_LOOKUP_MS, 'timeout', { ref: false })
    if ((await Promise.race([settled, timeout])) === 'timeout') this.#unresponsive.add(targetId)
  }

  #remember(frameId: string, contextId: string): void {
    this.#contextByFrame.set(frameId, contextId)
  }
}

/** Returns the origins of URLs of http and https, and of `blob:` URLs of such documents. */
function originsOf(urls: readonly (string | undefined)[]): readonly string[] {
  const origins = urls.map((url) => URL.parse(url ?? '')?.origin ?? '')
  return [...new Set(origins.filter((origin) => /^https?:/.test(origin)))]
}

function frameIdsIn({ frame, childFrames = [] }: FrameTree): string[] {
  return [frame.id, ...childFrames.flatMap(frameIdsIn)]
}
