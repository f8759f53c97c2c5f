// The types that the values of `politely` show, apart from those of a gate and a client. See
// shown-types.ts of the fetcher.
export type { Severity } from '@politely/core'
export type { PagePrice } from '@politely/core/internal'
