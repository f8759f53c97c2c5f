// politeFetchTool, by itself and in the AI SDK and Mastra.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createTool } from '@mastra/core/tools'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Answer, type Sites, startSites } from '@politely/testkit/servers/sites'
import { generateText, isStepCount, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, onTestFinished, test } from 'vitest'
import { type PoliteFetchTool, type PoliteFetchToolOptions, politeFetchTool } from '../src/tool.ts'

const HOME = 'http://home.test:PORT'
const ROBOTS = `${HOME}/robots.txt`
const rules: Answer = { status: 200, body: 'User-agent: ExampleAgent\nDisallow: /private\n' }

async function start(
  web: Readonly<Record<string, Answer>>,
  change: Partial<PoliteFetchToolOptions> = {},
): Promise<{ sites: Sites; fetchUrl: PoliteFetchTool }> {
  const sites = await startSites()
  for (const [url, answer] of Object.entries(web)) sites.respond(url, answer)
  const fetchUrl = politeFetchTool({
    userAgent: 'ExampleAgent/1.0',
    minDelayMs: 0,
    retries: 0,
    allowAddresses: ['127.0.0.0/8'],
    lookup: lookupIn({ 'private.test': '127.0.0.1' }),
    ...change,
  })
  onTestFinished(async () => {
    await fetchUrl.close()
    await sites.close()
  })
  return { sites, fetchUrl }
}

test('returns a part of a page, and why there is none', async () => {
  const { sites, fetchUrl } = await start({
    [ROBOTS]: rules,
    [`${HOME}/long`]: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(150) },
  })
  const url = sites.withPort(`${HOME}/long`)
  expect(await fetchUrl.execute({ url, max_length: 100 })).toEqual({
    fetched: true,
    message: `${url} responded with 200, text/plain. Characters 0 to 100 of 150 follow. For more, call again with start_index 100.`,
    url,
    status: 200,
    mediaType: 'text/plain',
    text: 'x'.repeat(100),
    nextIndex: 100,
  })
  expect(await fetchUrl.execute({ url, start_index: 100, max_length: 100 })).not.toHaveProperty('nextIndex')
  expect(await fetchUrl.execute({ url: sites.withPort(`${HOME}/private`) })).toMatchObject({
    fetched: false,
    reason: 'robots.txt',
    message: expect.stringContaining('is disallowed: line 2 of robots.txt says "Disallow: /private" to ExampleAgent'),
    verdict: { because: 'rule', rule: { line: 2 } },
  })
  expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/long`])
})

test('the limits of the server hold', async () => {
  const { sites, fetchUrl } = await start(
    {
      [ROBOTS]: { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' },
      [`${HOME}/1`]: { status: 200, body: 'one' },
    },
    { allowAddresses: ['127.0.0.1'], lookup: lookupIn({ 'home.test': '127.0.0.1', 'private.test': '127.0.0.2' }) },
  )
  await fetchUrl.execute({ url: sites.withPort(`${HOME}/1`) })
  const problemOf = async (input: Parameters<PoliteFetchTool['execute']>[0]) => {
    const result = await fetchUrl.execute(input)
    return result.fetched ? result.text : `${result.reason}: ${result.message}`
  }
  expect(await problemOf({ url: sites.withPort(`${HOME}/2`) })).toMatch(
    /^turn: .* may start in 60 s .*, and this tool waits 50 s at most\. Try again in 60 s\.$/,
  )
  expect(await problemOf({ url: sites.withPort('http://private.test:PORT/') })).toMatch(
    /^robots\.txt: .* This tool connects to public addresses only\.$/,
  )
  expect(await problemOf({ url: 'file:///etc/passwd' })).toMatch(/^url: .*only http and https/)
  expect(await problemOf({ url: `${HOME}/1`, max_length: 1 })).toMatch(/^input: Not fetched: max_length: /)
})

test('by the fetch of the caller, robots.txt takes the way of the page', async () => {
  const urls: string[] = []
  const fetch = async (url: unknown) => {
    urls.push(String(url))
    return new Response('a page', { headers: { 'content-type': 'text/plain' } })
  }
  const fetchUrl = politeFetchTool({ userAgent: 'ExampleAgent/1.0', fetch: fetch as typeof globalThis.fetch })
  expect(await fetchUrl.execute({ url: 'https://example.com/about' })).toMatchObject({ text: 'a page' })
  expect(await fetchUrl.execute({ url: 'http://10.0.0.1/' })).toMatchObject({ fetched: false, reason: 'robots.txt' })
  expect(urls).toEqual(['https://example.com/robots.txt', 'https://example.com/about'])
  await fetchUrl.close()
})

test('the time limit ends a fetch of the caller that ignores its signal', async () => {
  const pages: Record<string, () => Promise<Response>> = {
    '/robots.txt': async () => new Response('', { status: 404 }),
    '/response': () => new Promise(() => undefined),
    '/body': async () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/plain' } }),
    '/about': async () => new Response('about us'),
  }
  const fetch = async (url: unknown) => pages[new URL(String(url)).pathname]?.() ?? new Response('', { status: 404 })
  const options = { minDelayMs: 0, timeoutMs: 300, fetch: fetch as typeof globalThis.fetch }
  const fetchUrl = politeFetchTool({ userAgent: 'ExampleAgent/1.0', ...options })
  for (const path of ['/response', '/body'])
    expect(await fetchUrl.execute({ url: `https://example.com${path}` })).toMatchObject({ reason: 'timeout' })
  const abort = new AbortController()
  const aborted = fetchUrl.execute({ url: 'https://example.com/body' }, { abortSignal: abort.signal })
  abort.abort('a reason')
  await expect(aborted).rejects.toBe('a reason')
  expect(await fetchUrl.execute({ url: 'https://example.com/about' })).toMatchObject({ text: 'about us' })
  await fetchUrl.close()
})

test('rejects invalid options', () => {
  expect(() => politeFetchTool({} as never)).toThrow(/^userAgent: /)
  expect(() => politeFetchTool({ userAgent: 'Mozilla/5.0' })).toThrow(/begin it with a name such as ExampleAgent/)
  expect(() => politeFetchTool({ userAgent: 'A/1', fetch: 'no' as never })).toThrow(/^fetch: /)
  expect(() => politeFetchTool({ userAgent: 'A/1', timeout: 5 } as never)).toThrow(/^timeout: .*`timeoutMs`/)
})

const NO_USAGE = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

/** A model that calls the tool for each URL in turn, and then answers. */
function modelThatReads(urls: readonly string[]): MockLanguageModelV4 {
  const calls = urls.map((url, i) => ({
    content: [
      { type: 'tool-call' as const, toolCallId: String(i), toolName: 'fetch_url', input: JSON.stringify({ url }) },
    ],
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage: NO_USAGE,
    warnings: [],
  }))
  const answer = {
    content: [{ type: 'text' as const, text: 'done' }],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: NO_USAGE,
    warnings: [],
  }
  return new MockLanguageModelV4({ doGenerate: [...calls, answer] })
}

test('the AI SDK: the model reads a page, and why another one is refused', { tags: 'full' }, async () => {
  const { sites, fetchUrl } = await start({ [ROBOTS]: rules, [`${HOME}/about`]: { status: 200, body: 'about us' } })
  const model = modelThatReads([`${HOME}/about`, `${HOME}/private`].map((url) => sites.withPort(url)))
  const tools = { [fetchUrl.name]: tool(fetchUrl) }
  const { text, steps } = await generateText({ model, prompt: 'Read.', tools, stopWhen: isStepCount(5) })
  expect(text).toBe('done')
  expect(steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))).toMatchObject([
    { fetched: true, text: 'about us' },
    { fetched: false, reason: 'robots.txt' },
  ])
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    { name: 'fetch_url', inputSchema: { required: ['url'], properties: { max_length: { default: 5000 } } } },
  ])
  const seen = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)
  expect(seen).toContain('line 2 of robots.txt says')
})

test('the AI SDK: its abort signal ends a call', { tags: 'full' }, async () => {
  const { sites, fetchUrl } = await start({ [ROBOTS]: rules, [`${HOME}/slow`]: new Promise(() => undefined) })
  const model = modelThatReads([sites.withPort(`${HOME}/slow`)])
  const abort = new AbortController()
  const generating = generateText({
    model,
    prompt: 'Read.',
    tools: { fetch_url: tool(fetchUrl) },
    stopWhen: isStepCount(5),
    abortSignal: abort.signal,
  })
  const rejects = expect(generating).rejects.toMatchObject({ name: 'AbortError' })
  await sites.requested(2)
  abort.abort()
  await rejects
})

test('Mastra: createTool takes the tool', { tags: 'full' }, async () => {
  const { sites, fetchUrl } = await start({ [ROBOTS]: rules, [`${HOME}/about`]: { status: 200, body: 'about us' } })
  const mastraTool = createTool({ id: fetchUrl.name, ...fetchUrl })
  expect(mastraTool.id).toBe('fetch_url')
  const read = (url: string, abortSignal?: AbortSignal) =>
    mastraTool.execute?.({ url: sites.withPort(url) } as never, { abortSignal } as never)
  expect(await read(`${HOME}/about`)).toMatchObject({ fetched: true, text: 'about us' })
  expect(await read(`${HOME}/private`)).toMatchObject({ fetched: false, reason: 'robots.txt' })
  await expect(read(`${HOME}/about`, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
})

test('the entry imports neither undici nor the MCP SDK, and the first request loads undici', {
  tags: 'full',
}, async () => {
  const { sites } = await start({ [ROBOTS]: rules, [`${HOME}/about`]: { status: 200, body: 'about us' } })
  const program = `
    import { registerHooks } from 'node:module'
    const found = new Set()
    registerHooks({
      resolve(name, context, next) {
        if (/^(undici|@modelcontextprotocol)\\b/.test(name)) found.add(name)
        return next(name, context)
      },
    })
    const { politeFetchTool } = await import('${new URL('../src/tool.ts', import.meta.url).href}')
    const fetchUrl = politeFetchTool({
      userAgent: 'ExampleAgent/1.0',
      allowAddresses: ['127.0.0.1'],
      lookup: (_, options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    console.log(...found)
    console.log((await fetchUrl.execute({ url: '${sites.withPort(`${HOME}/about`)}' })).text, ...found)
    await fetchUrl.close()`
  const flags = ['--conditions=politely-source', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: join(import.meta.dirname, '..') })
  expect(stdout).toBe('\nabout us undici\n')
})
