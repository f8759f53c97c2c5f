// The public API of `@politely/timeline`.

export type * from '@politely/gate/shown-types'
export type { TimelineMark, TimelineRow } from './row.ts'
export { CrawlTimeline, type CrawlTimelineOptions } from './timeline.ts'
