// A minimal driver of Chromium: the DevTools protocol through a pipe. The package has no code for
// it, so it represents any other driver.
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { chromiumArguments, findBrowser, isMissing } from '@politely/testkit/parts'
import type { DriverBrowser, DriverSession, GuardedPage } from '../src/index.ts'

const found = findBrowser()

export const noChromium: boolean = isMissing('chromium', found)

const ARGS = [
  ...chromiumArguments,
  '--headless',
  '--no-first-run',
  '--disable-popup-blocking',
  '--remote-debugging-pipe',
]

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
  readonly sessionId?: string
}

type ReplyHandler = (reply: Message) => void

export class Chromium implements DriverBrowser {
  readonly driverObject: this = this
  readonly #process: ChildProcess
  readonly #folder: string
  readonly #replyHandlers = new Map<number, ReplyHandler>()
  readonly #sessions = new Map<string, EventEmitter>()
  readonly #pages: Page[] = []
  #lastId = 0
  #incomplete = ''

  constructor() {
    if (found === undefined) throw new Error('there is no Chromium')
    this.#folder = mkdtempSync(join(tmpdir(), 'politely-chromium-'))
    const env = { ...process.env, ...found.env, HOME: this.#folder, TMPDIR: this.#folder }
    const args = [...ARGS, `--user-data-dir=${this.#folder}/profile`]
    this.#process = spawn(found.command, args, { env, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    const output = this.#process.stdio[4] as Readable
    output.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk))
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close')
    this.#process.kill('SIGKILL')
    await closed
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async newSession(): Promise<DriverSession> {
    return this.attach('Target.attachToBrowserTarget', {})
  }

  pages(): Promise<readonly Page[]> {
    return Promise.resolve(this.#pages)
  }

  isConnected(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Opens a page in a context of its own. */
  async newPage(): Promise<Page> {
    const { browserContextId } = (await this.send('Target.createBrowserContext', {})) as { browserContextId: string }
    const made = await this.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const page = new Page(this, (made as { targetId: string }).targetId)
    this.#pages.push(page)
    return page
  }

  async attach(method: string, parameters: object): Promise<DriverSession> {
    const { sessionId } = (await this.send(method, parameters)) as { sessionId: string }
    const events = new EventEmitter().setMaxListeners(0)
    this.#sessions.set(sessionId, events)
    return {
      send: (name, more = {}) => this.send(name, more, sessionId),
      on: (event, listener) => events.on(event, listener),
      detach: async () => void (await this.send('Target.detachFromTarget', { sessionId })),
    }
  }

  send(method: string, params: object, sessionId?: string): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#replyHandlers.set(id, ({ error, result }) => (error ? reject(new Error(error.message)) : resolve(result)))
      ;(this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  }

  #read(chunk: string): void {
    const messages = `${this.#incomplete}${chunk}`.split('\0')
    this.#incomplete = messages.pop() ?? ''
    for (const text of messages) {
      const message = JSON.parse(text) as Message
      if (message.id === undefined)
        this.#sessions.get(message.sessionId ?? '')?.emit(message.method ?? '', message.params)
      else this.#replyHandlers.get(message.id)?.(message)
    }
  }
}

/** A page whose only navigation method is `goto`. */
export class Page extends EventEmitter implements GuardedPage {
  readonly driverObject: this = this
  readonly #browser: Chromium
  readonly #targetId: string
  #session: Promise<DriverSession> | undefined

  constructor(browser: Chromium, targetId: string) {
    super()
    this.#browser = browser
    this.#targetId = targetId
  }

  newSession(): Promise<DriverSession> {
    return this.#browser.attach('Target.attachToTarget', { targetId: this.#targetId, flatten: true })
  }

  mainFrame(): unknown {
    return this.#targetId
  }

  async prepare(documentScript: string): Promise<() => Promise<void>> {
    const session = await this.#open()
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source: documentScript })
    return async () => undefined // the tests close the browser afterwards
  }

  isClosed(): boolean {
    return !this.#browser.isConnected()
  }

  async goto(url: string): Promise<string> {
    const session = await this.#open()
    const loaded = new Promise<void>((resolve) => session.on('Page.loadEventFired', () => resolve()))
    const { errorText } = (await session.send('Page.navigate', { url })) as { errorText?: string }
    if (errorText !== undefined) throw new Error(errorText)
    await loaded
    return this.address()
  }

  async address(): Promise<string> {
    return (await this.evaluate('location.href')) as string
  }

  async evaluate(expression: string): Promise<unknown> {
    const session = await this.#open()
    const options = { expression, awaitPromise: true, userGesture: true }
    const { result } = (await session.send('Runtime.evaluate', options)) as { result: { value: unknown } }
    return result.value
  }

  #open(): Promise<DriverSession> {
    this.#session ??= this.newSession().then(async (session) => {
      await session.send('Page.enable')
      return session
    })
    return this.#session
  }
}
