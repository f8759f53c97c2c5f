// A session with the browser, and the sessions with its targets that were opened through it.
//
// The guard asks no driver which pages there are. Puppeteer forgets a page if two sessions with it
// are opened at once, and then lists it no more. A driver cannot send through a session that was
// opened through another one, so the messages to targets are sent as texts.
import { type DriverSession, listen, send, type TargetSession } from './session.ts'

interface Message {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

type ReplyHandler = (reply: Message) => void

export class BrowserSession {
  readonly driverSession: DriverSession
  /** By session ID of the target: what waits for replies, by message ID. */
  readonly #replyHandlers = new Map<string, Map<number, ReplyHandler>>()
  #lastId = 0

  /** @param onDetached Called with the ID of each target whose session ended. */
  constructor(driverSession: DriverSession, onDetached: (targetId: string) => void) {
    this.driverSession = driverSession
    listen(driverSession, 'Target.receivedMessageFromTarget', ({ sessionId, message }) => {
      const reply: Message = JSON.parse(message)
      this.#replyHandlers.get(sessionId)?.get(reply.id ?? 0)?.(reply)
    })
    listen(driverSession, 'Target.detachedFromTarget', ({ sessionId, targetId }) => {
      this.#end(sessionId)
      if (targetId !== undefined) onDetached(targetId)
    })
  }

  /** Returns whether the session still receives what the browser sends. */
  isAttached(): Promise<boolean> {
    return isDelivered(send(this.driverSession, 'Target.getTargetInfo'))
  }

  /** Opens a session with a target. It ends with this session, or when the target is closed. */
  async attach(targetId: string): Promise<TargetSession> {
    return this.#targetSession(await this.#attach(targetId))
  }

  /** Runs `work` with a session of a target, then ends that session. */
  async withTarget<T>(targetId: string, work: (target: TargetSession) => Promise<T>): Promise<T> {
    const sessionId = await this.#attach(targetId)
    try {
      return await work(this.#targetSession(sessionId))
    } finally {
      await isDelivered(send(this.driverSession, 'Target.detachFromTarget', { sessionId }))
      this.#end(sessionId)
    }
  }

  /** Rejects all commands that wait for a reply, and detaches the session. */
  async detach(): Promise<void> {
    for (const sessionId of [...this.#replyHandlers.keys()]) this.#end(sessionId)
    await isDelivered(this.driverSession.detach())
  }

  async #attach(targetId: string): Promise<string> {
    const { sessionId } = await send(this.driverSession, 'Target.attachToTarget', { targetId, flatten: false })
    this.#replyHandlers.set(sessionId, new Map())
    return sessionId
  }

  #targetSession(sessionId: string): TargetSession {
    return {
      send: async (method, params = {}) => {
        const handlers = this.#replyHandlers.get(sessionId)
        if (handlers === undefined) throw new Error('the session with the target has ended')
        const id = ++this.#lastId
        const replied = new Promise<Message>((resolve) => handlers.set(id, resolve))
        try {
          const message = JSON.stringify({ id, method, params })
          await send(this.driverSession, 'Target.sendMessageToTarget', { sessionId, message })
          const { result, error } = await replied
          if (error !== undefined) throw new Error(error.message)
          return result
        } finally {
          handlers.delete(id)
        }
      },
    }
  }

  #end(sessionId: string): void {
    const handlers = this.#replyHandlers.get(sessionId)
    this.#replyHandlers.delete(sessionId)
    for (const handle of [...(handlers?.values() ?? [])]) handle({ error: { message: 'the session has ended' } })
  }
}

/**
 * Returns whether the browser accepted the command. It rejects commands for a page that was closed
 * meanwhile, and for a session that was detached.
 */
export async function isDelivered(sent: Promise<unknown>): Promise<boolean> {
  return sent.then(
    () => true,
    () => false,
  )
}
