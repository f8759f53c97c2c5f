// What a request holds from its start to its end: a slot at each level, and a place under each limit.
import type { Site, StartedItem } from '@politely/fetcher/internal'
import type { Ticket } from '../pace/pacer.ts'
import type { Permit } from '../permit/permit.ts'
import type { KeySlot } from './paced-key.ts'

const NO_LIMITS: readonly Held[] = []

/** A limit of a domain or an address. */
interface Held {
  release(): void
}

/** The permit of a request. */
interface GrantOwner extends Permit {
  readonly enteredAt: string | undefined
  readonly redirectedFrom: readonly string[]
  endElsewhere(): void
}

/** What another gate needs to know of a permit to apply its report. Unknown fields are left out. */
export interface PermitRecord {
  /** The pace key. */
  readonly key: string
  /** The ticket of the slot that the lane has reserved. */
  readonly ticket?: Ticket | undefined
  /** The ticket of the probe, if the request is one. */
  readonly probe?: Ticket | undefined
  readonly origin?: string | undefined
}

/** What a request holds from its start to its end. */
export class Grant implements StartedItem {
  before: Grant | undefined
  after: Grant | undefined
  list: object | undefined
  isExempt = false
  /** Releases the limits. */
  readonly lane: { readonly key: string; isSendingSeen: boolean; release(grant: Grant): void; slowedDown(): void }
  readonly site: Site
  /** By the gate's clock. */
  startedAt: number
  /** The slot of the lane. */
  readonly slot: KeySlot
  /** The slots of the domain and the address, if these have delays, and the slot of the lane. */
  readonly slots: readonly KeySlot[]
  readonly sharedLimits: readonly Held[]
  /** The permit of the request. */
  permit: GrantOwner | undefined

  constructor(
    lane: Grant['lane'],
    site: Site,
    startedAt: number,
    slots: readonly KeySlot[],
    sharedLimits: readonly Held[] = NO_LIMITS,
  ) {
    this.lane = lane
    this.site = site
    this.startedAt = startedAt
    this.slot = slots.at(-1) as KeySlot
    this.slots = slots
    this.sharedLimits = sharedLimits
  }
}
