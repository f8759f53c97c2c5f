import { defineConfig } from 'vitest/config'

// `npm run site:test` builds the site and runs these tests. The vitest.config.ts of the repository leaves them out.
export default defineConfig({
  test: {
    reporters: ['minimal'],
    retry: Number(process.env.TEST_RETRIES ?? 0),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
