// How many of the records that name a time of day are kept of one file.

/** The most request-rates, and the most visit-times, that are kept for one crawler: one for each hour of a day. Our choice. */
export const MAX_TIMED_RECORDS = 24
