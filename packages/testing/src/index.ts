// The public API of `@politely/testing`.

export { isPolitelyError, OptionError } from '@politely/core'
export type { FakeAnswer, FakeReply } from './answer.ts'
export type { FakeClock, FakeTimers } from './clock.ts'
export { type FakeWeb, type FakeWebOptions, fakeWeb, type LoggedRequest } from './fake-web.ts'
export { type MatcherResult, type RobotsMatchers, robotsMatchers } from './robots-matchers.ts'
export type { FakeSite } from './sites.ts'
