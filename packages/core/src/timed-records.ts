/**
 * How many request-rates, and how many visit-times, are kept for one crawler: one for each hour of
 * a day. Our choice.
 */
export const MAX_TIMED_RECORDS = 24
