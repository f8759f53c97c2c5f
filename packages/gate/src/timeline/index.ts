// The public API of `@politely/gate/timeline`.

export {
  CrawlTimeline,
  type CrawlTimelineOptions,
  type TimelineMark,
  type TimelineRow,
  type TimelineSvgOptions,
  type TimelineTextOptions,
} from './timeline.ts'
