/** The crawler for which every library checks URLs. */
export const CRAWLER = 'ExampleBot'
