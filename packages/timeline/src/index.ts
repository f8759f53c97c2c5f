// The public API of `@politely/timeline`.

export type * from '@politely/gate/shown-types'
export type { TimelineMark, TimelineRow } from './row.ts'
export {
  CrawlTimeline,
  type CrawlTimelineOptions,
  type TimelineSvgOptions,
  type TimelineTextOptions,
} from './timeline.ts'
