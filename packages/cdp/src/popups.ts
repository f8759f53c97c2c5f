// Adds the document script to popups before they load anything.
//
// A driver learns of a popup too late: Puppeteer when its first document has arrived. So a session
// of our own with the popup adds the script at once, and the popup's first request waits for that.
// The session stays open, because the script is removed with it. If the session is lost, the popup's
// next request waits for another one.
import { send, type TargetSession, waitForPages } from './session.ts'

interface Popup {
  /** Whether the popup has the script, or needs none. Undefined if its session was lost. */
  prepared: Promise<boolean> | undefined
}

export class Popups {
  readonly #attach: (targetId: string) => Promise<TargetSession>
  readonly #scriptFor: (targetId: string) => Promise<string | undefined>
  /** By target ID. */
  readonly #popups = new Map<string, Popup>()

  /**
   * @param attach Opens a session with a target.
   * @param scriptFor Returns the script for a popup. Undefined if its context is not guarded.
   */
  constructor(
    attach: (targetId: string) => Promise<TargetSession>,
    scriptFor: (targetId: string) => Promise<string | undefined>,
  ) {
    this.#attach = attach
    this.#scriptFor = scriptFor
  }

  /** Adds the script to a popup that has just been created. */
  add(targetId: string): void {
    if (!this.#popups.has(targetId)) this.#popups.set(targetId, { prepared: this.#prepare(targetId) })
  }

  /**
   * Resolves when a page that is a popup has the script, or will have it: a busy page runs it later.
   * Waits a second at most. Resolves with false if the popup cannot get the script.
   */
  async prepared(targetId: string): Promise<boolean> {
    const popup = this.#popups.get(targetId)
    if (popup === undefined || (await popup.prepared)) return true
    popup.prepared = this.#prepare(targetId)
    return popup.prepared
  }

  delete(targetId: string): void {
    this.#popups.delete(targetId)
  }

  /** The session with a popup has ended, or the sessions with all of them. */
  lost(targetId?: string): void {
    for (const [id, popup] of this.#popups) if (targetId === undefined || id === targetId) popup.prepared = undefined
  }

  async #prepare(targetId: string): Promise<boolean> {
    try {
      const source = await this.#scriptFor(targetId)
      if (source === undefined) return true
      const target = await this.#attach(targetId)
      const added = Promise.all([
        send(target, 'Page.enable'), // otherwise the script does not run in later documents
        send(target, 'Page.addScriptToEvaluateOnNewDocument', { source, runImmediately: true }),
      ])
      await waitForPages(added)
      return true
    } catch {
      return false // the popup is closed, or the session is lost
    }
  }
}
