// The answer to an invalid URL: docs/reference/errors.md.
import { describeVerdict, explainUrlProblem } from '@politely/core'
import { invalidUrlCases, notUrls, type UrlCase, urlCaseName, urlCases } from '@politely/testkit/cases/url-cases'
import { expect, test as plainTest } from 'vitest'
import { RobotsClient, type RobotsClientOptions, withoutCredentials } from '../src/index.ts'
import { test } from './with-sites.ts'

const named = (cases: readonly UrlCase[]) => cases.map((one) => ({ ...one, name: urlCaseName(one) }))

const noFetch = () => {
  throw new Error('an invalid URL must not lead to a request')
}

test.for(named(invalidUrlCases))('$name, and nothing is fetched', async ({ url, problem }, { newClient }) => {
  const client = newClient({ fetch: noFetch as unknown as NonNullable<RobotsClientOptions['fetch']> })
  const verdict = await client.check(url)
  expect(verdict).toEqual({ url, allowed: false, because: 'invalid-url', problem })
  expect(verdict.access ?? verdict.origin).toBeUndefined() // can be read without narrowing
  expect(await client.isAllowed(url)).toBe(false)
  expect(client.checkNow(url)).toEqual(verdict)
  expect(await client.explain(url)).toEqual({ verdict, explanation: undefined, records: [] })
  expect(await client.inspect(url)).toEqual({ ...verdict, url: withoutCredentials(url) })
  for await (const one of client.checkMany([url, { href: url }])) expect(one).toEqual(verdict)
  expect(await client.prefetch([url])).toMatchObject({ 'invalid-url': 1, unreachable: 0 })
  for (const result of [client.sitemaps(url), client.robots(url)]) {
    await expect(result).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'url' })
    if (verdict.because === 'invalid-url') {
      await expect(result).rejects.toThrow(explainUrlProblem(verdict.problem, url))
      expect(describeVerdict(verdict)).toContain(explainUrlProblem(verdict.problem, url))
    }
  }
})

test.for(named(urlCases).filter(({ problem }) => problem === 'none'))('$name', async ({ url }, { newClient }) => {
  const client = newClient({ fetch: async () => new Response('', { status: 404 }) })
  expect((await client.check(url)).because).not.toBe('invalid-url')
  expect(await client.inspect(url)).not.toHaveProperty('because')
})

plainTest.each(notUrls)('%s is a mistake of the caller', async (_, value) => {
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const url = value as string
  const calls = [
    () => client.isAllowed(url),
    () => client.check(url),
    async () => client.checkNow(url),
    () => client.explain(url),
    () => client.inspect(url),
    () => client.robots(url),
    () => client.sitemaps(url),
    () => client.prefetch([url]),
    () => client.checkMany([url]).next(),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'url' })
  await client.close()
})
