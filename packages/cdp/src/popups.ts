// Adds the document script to popups before they load anything.
//
// A driver learns of a popup too late: Puppeteer when its first document has arrived. So a session
// of our own with the popup adds the script at once, and the popup's first request waits for that.
// The session stays open, because the script is removed with it. If the session is lost, the popup's
// next request waits for another one.
import type { BrowserSession } from './browser-session.ts'
import { send, waitForPages } from './session.ts'

interface Popup {
  /** Whether the popup has the script, or needs none. Undefined if its session was lost. */
  prepared: Promise<boolean> | undefined
}

export class Popups {
  readonly #attach: BrowserSession['attach']
  readonly #scriptFor: (targetId: string) => Promise<string | undefined>
  /** By target ID. */
  readonly #popups = new Map<string, Popup>()

  /**
   * @param attach Opens a session with a target.
   * @param scriptFor Returns the script for a popup. Undefined if its context is not guarded.
   */
  constructor(attach: BrowserSession['attach'], scriptFor: (targetId: string) => Promise<string | undefined>) {
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

  async #prepare(targetId: string): Promise<boolean> {
    try {
      const source = await this.#scriptFor(targetId)
      if (source === undefined) return true
      const target = await this.#attach(targetId, () => {
        const popup = this.#popups.get(targetId)
        if (popup !== undefined) popup.prepared = undefined
      })
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
