// The public API of `@politely/gate/timeline`.

export type { WaitLevel } from '../pace/wait-cause.ts'
export type { TimelineMark, TimelineRow } from './row.ts'
export {
  CrawlTimeline,
  type CrawlTimelineOptions,
  type TimelineSvgOptions,
  type TimelineTextOptions,
} from './timeline.ts'
