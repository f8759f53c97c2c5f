// The interface that the browser cases use: the API that Playwright and Puppeteer have in common,
// and the operations that each does in its own way.
import type { Visit } from '../cases/adapter-cases.ts'

/** `Page` in both. */
export interface TabUnderTest {
  goto(url: string, options?: GotoOptions): Promise<ResponseUnderTest | null>
  reload(): Promise<unknown>
  goBack(): Promise<unknown>
  setContent(html: string): Promise<unknown>
  evaluate(expression: string): Promise<unknown>
  waitForFunction(expression: string): Promise<unknown>
  click(selector: string): Promise<void>
  url(): string
  isClosed(): boolean
  close(): Promise<void>
  on(event: 'request' | 'requestfailed', listener: (request: RequestUnderTest) => void): unknown
}

interface GotoOptions {
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly waitUntil?: unknown
}

interface ResponseUnderTest {
  url(): string
  status(): number
}

export interface RequestUnderTest {
  url(): string
  postData(): string | null | undefined
}

/** `BrowserContext` in both. */
export interface ContextUnderTest {
  newPage(): Promise<TabUnderTest>
  cookies(): Promise<readonly { readonly name: string }[]>
  close(): Promise<void>
}

/** What `withRobots` returns in both. */
export interface PoliteUnderTest {
  readonly gate: GateUnderTest
  refusalOf(request: RequestUnderTest): { readonly code: string; readonly verdict: SeenVerdict } | undefined
  close(): Promise<void>
}

export type SeenVerdict = NonNullable<Extract<Visit, { kind: 'refused' }>['verdict']>

/** The part of `PoliteGate` of @politely/gate that the cases use. */
interface GateUnderTest {
  readonly counters: { readonly started: number; readonly disobeyedRules: number }
  queues(): readonly object[]
  when(url: string): Promise<object>
  enter(url: string): Promise<{ release(): void }>
  close(): void
}

/** A gate, and the RobotsClient that it uses. */
export interface GateWithClient {
  readonly gate: GateUnderTest
  readonly robots: { close(): Promise<void> }
}

interface PoliteClasses {
  readonly RobotsClient: new (options: { readonly userAgent: string }) => GateWithClient['robots']
  /** The options contain the RobotsClient and `minDelayMs`. */
  readonly PoliteGate: new (
    options: never,
  ) => GateUnderTest
  readonly RobotsDisallowedError: new (...parts: never) => Error & { readonly verdict: SeenVerdict }
}

/** `C` is the driver's type of a context, `R` the type of its guard. */
export interface BrowserUnderTest<
  C extends ContextUnderTest = ContextUnderTest,
  R extends PoliteUnderTest = PoliteUnderTest,
> {
  newContext(): Promise<C>
  withRobots(context: C, options: unknown): Promise<R>
  /** The classes that the adapter's package uses. Each package has its own import of them. */
  readonly classes: PoliteClasses
  /** Launches another browser, with these switches in addition to the usual ones. */
  launch(switches?: readonly string[]): Promise<BrowserUnderTest<C, R>>
  close(): Promise<void>
  /** The sessions with the browser that were opened, in order. */
  readonly sessions: readonly { detach(): Promise<unknown> }[]
  /** Whether the browser is running. False after a crash. */
  isConnected(): boolean
  /** The value of `waitUntil` for a `goto` that waits until nothing more is loaded. */
  readonly networkIdle: string
  /** Returns the abort reason from the error of an aborted `goto`. */
  abortReasonOf(error: unknown): unknown
  /** The driver's error message for a refused page. */
  readonly refusedPageMessage: string
  /** Returns the URLs of the redirects that led to a response. */
  redirectsTo(response: ResponseUnderTest): readonly string[]
  stopLoading(tab: TabUnderTest): Promise<unknown>
  /** Crashes all pages of the browser. Resolves when this page has crashed. */
  crash(tab: TabUnderTest): Promise<unknown>
  /** Kills the main process of the browser. */
  kill(): Promise<unknown>
}
