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

/** A session with a target. */
interface OpenTarget {
  /** What waits for replies, by message ID. */
  readonly replyHandlers: Map<number, ReplyHandler>
  readonly onEnd: () => void
}

export class BrowserSession {
  readonly driverSession: DriverSession
  /** By session ID. */
  readonly #targets = new Map<string, OpenTarget>()
  #lastId = 0

  constructor(driverSession: DriverSession) {
    this.driverSession = driverSession
    listen(driverSession, 'Target.receivedMessageFromTarget', ({ sessionId, message }) => {
      const reply: Message = JSON.parse(message)
      this.#targets.get(sessionId)?.replyHandlers.get(reply.id ?? 0)?.(reply)
    })
    listen(driverSession, 'Target.detachedFromTarget', ({ sessionId }) => this.#end(sessionId))
  }

  /** Returns whether the session still receives what the browser sends. */
  isAttached(): Promise<boolean> {
    return isDelivered(send(this.driverSession, 'Target.getTargetInfo'))
  }

  /**
   * Opens a session with a target. It ends with this session, or when the target is closed.
   * @param onEnd Called when it ends.
   */
  async attach(targetId: string, onEnd: () => void): Promise<TargetSession> {
    return this.#targetSession(await this.#attach(targetId, onEnd))
  }

  /** Runs `work` with a session of a target, then ends that session. */
  async withTarget<T>(targetId: string, work: (target: TargetSession) => Promise<T>): Promise<T> {
    const sessionId = await this.#attach(targetId, () => undefined)
    try {
      return await work(this.#targetSession(sessionId))
    } finally {
      await isDelivered(send(this.driverSession, 'Target.detachFromTarget', { sessionId }))
      this.#end(sessionId)
    }
  }

  /** Rejects all commands that wait for a reply, and detaches the session. */
  async detach(): Promise<void> {
    for (const sessionId of [...this.#targets.keys()]) this.#end(sessionId)
    await isDelivered(this.driverSession.detach())
  }

  async #attach(targetId: string, onEnd: () => void): Promise<string> {
    const { sessionId } = await send(this.driverSession, 'Target.attachToTarget', { targetId, flatten: false })
    this.#targets.set(sessionId, { replyHandlers: new Map(), onEnd })
    return sessionId
  }

  #targetSession(sessionId: string): TargetSession {
    return {
      send: async (method, params = {}) => {
        const handlers = this.#targets.get(sessionId)?.replyHandlers
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
    const target = this.#targets.get(sessionId)
    if (target === undefined) return
    this.#targets.delete(sessionId)
    for (const handle of [...target.replyHandlers.values()]) handle({ error: { message: 'the session has ended' } })
    target.onEnd()
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
