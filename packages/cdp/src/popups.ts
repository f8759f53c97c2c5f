// Adds the document script to popups before they load anything.
//
// A driver learns of a popup too late: Puppeteer when its first document has arrived. So a session
// of our own with the popup adds the script at once, and the popup's first request waits for that.
// The session stays open, because the script is removed with it. A driver cannot open a session
// through the browser's session, so the messages to a popup are sent as texts.
import { type DriverSession, listen, send, waitForPages } from './session.ts'

export class Popups {
  readonly #session: DriverSession
  /** By target ID: resolves when the popup has the script, or cannot get it. Never rejects. */
  readonly #prepared = new Map<string, Promise<void>>()
  /** By session ID: called when the popup has replied. */
  readonly #onReply = new Map<string, () => void>()

  constructor(session: DriverSession) {
    this.#session = session
    listen(session, 'Target.receivedMessageFromTarget', ({ sessionId, message }) => {
      const onReply = this.#onReply.get(sessionId)
      if (onReply !== undefined && JSON.parse(message).id === 2) onReply()
    })
  }

  /** Adds the script, if there is one, to a popup that has just been created. */
  add(targetId: string, documentScript: Promise<string | undefined>): void {
    const prepared = this.#prepare(targetId, documentScript).catch(() => undefined) // the popup is closed
    this.#prepared.set(targetId, waitForPages(prepared))
  }

  /** Resolves when a page that is a popup has the script. Waits a second at most. */
  async prepared(targetId: string): Promise<void> {
    await this.#prepared.get(targetId)
  }

  delete(targetId: string): void {
    this.#prepared.delete(targetId)
  }

  async #prepare(targetId: string, documentScript: Promise<string | undefined>): Promise<void> {
    const source = await documentScript
    if (source === undefined) return
    const { sessionId } = await send(this.#session, 'Target.attachToTarget', { targetId, flatten: false })
    const replied = new Promise<void>((resolve) => this.#onReply.set(sessionId, resolve))
    const commands = [
      { id: 1, method: 'Page.enable' }, // otherwise the script does not run in later documents
      { id: 2, method: 'Page.addScriptToEvaluateOnNewDocument', params: { source, runImmediately: true } },
    ]
    for (const command of commands)
      await send(this.#session, 'Target.sendMessageToTarget', { sessionId, message: JSON.stringify(command) })
    await replied
    this.#onReply.delete(sessionId)
  }
}
