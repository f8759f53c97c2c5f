// The public API of `@politely/gate/site-queue`. The other entries load nothing of it.

export type { Refusal } from '../fetch/refused-response.ts'
export type * from '../shown-types.ts'
export type { Queued, QueuedUrl, SiteQueueInput, SiteQueueItem, SiteQueueSpill } from './queue-items.ts'
export type { SeenSet } from './seen-urls.ts'
export { type SiteQueue, type SiteQueueOptions, siteQueue } from './site-queue.ts'
