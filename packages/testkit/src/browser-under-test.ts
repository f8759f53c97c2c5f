// A browser whose pages are polite, as the rows for it see one: as much of Playwright and of Puppeteer as is alike in both, and the
// few things that each of them does in its own way.
import type { Visit } from './adapter-cases.ts'

/** `Page` of both. */
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
  on(event: 'request' | 'requestfailed', hear: (request: RequestUnderTest) => void): unknown
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

/** `BrowserContext` of both. */
export interface ContextUnderTest {
  newPage(): Promise<TabUnderTest>
  cookies(): Promise<readonly { readonly name: string }[]>
  close(): Promise<void>
}

/** What `withRobots` of both gives. */
export interface PoliteUnderTest {
  readonly gate: GateUnderTest
  refusalOf(request: RequestUnderTest): { readonly code: string; readonly verdict: SeenVerdict } | undefined
  close(): Promise<void>
}

export type SeenVerdict = NonNullable<Extract<Visit, { kind: 'refused' }>['verdict']>

/** As much of `PoliteGate` of @politely/gate as is looked at. */
interface GateUnderTest {
  readonly counters: { readonly started: number }
  queues(): readonly object[]
  when(url: string): Promise<object>
  enter(url: string): Promise<{ release(): void }>
  close(): void
}

/** A gate of one's own, and the RobotsClient that it asks. */
export interface GateWithClient {
  readonly gate: GateUnderTest
  readonly robots: { close(): Promise<void> }
}

interface PoliteClasses {
  readonly RobotsClient: new (options: { readonly userAgent: string }) => GateWithClient['robots']
  /** Its options hold such a RobotsClient, and `minDelayMs`. */
  readonly PoliteGate: new (
    options: never,
  ) => GateUnderTest
  readonly RobotsDisallowedError: new (...parts: never) => Error & { readonly verdict: SeenVerdict }
}

/** `C` is a context, `R` what makes it polite. */
export interface BrowserUnderTest<
  C extends ContextUnderTest = ContextUnderTest,
  R extends PoliteUnderTest = PoliteUnderTest,
> {
  newContext(): Promise<C>
  withRobots(context: C, options: unknown): Promise<R>
  /** The classes that its package goes by. */
  readonly classes: PoliteClasses
  /** Another browser. */
  launch(): Promise<BrowserUnderTest<C, R>>
  close(): Promise<void>
  /** `waitUntil` of a `goto` that is over when nothing more is loaded. */
  readonly networkIdle: string
  /** The reason of the signal that ended a visit with this error. */
  abortReasonOf(error: unknown): unknown
  /** What the driver says where a page is refused. */
  readonly refusedPageMessage: string
  /** The URLs that led to an answer by redirects. */
  redirectsTo(answer: ResponseUnderTest): readonly string[]
  stopLoading(tab: TabUnderTest): Promise<unknown>
  /** Crashes the page, and all others of the browser. */
  crash(tab: TabUnderTest): Promise<unknown>
  /** Kills the main process of the browser. */
  kill(): Promise<unknown>
}
