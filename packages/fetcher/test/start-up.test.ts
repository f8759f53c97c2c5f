// @module-tag full
// What is loaded when: in a process of its own, since a module is loaded once.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'

const fetcher = new URL('../src/index.ts', import.meta.url).href

/**
 * Runs a program after the import of the package, and returns what it prints. It says whether
 * undici is loaded with `hasUndici()`.
 */
async function run(program: string, before = ''): Promise<string> {
  const source = `
    import { createRequire } from 'node:module'
    const { cache } = createRequire(import.meta.url)
    const hasUndici = () => Object.keys(cache).some((path) => path.includes('/undici/'))
    ${before}
    const { RobotsClient } = await import('${fetcher}')
    ${program}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source])
  return stdout.trim()
}

async function robotsOf(body: string, host = '127.0.0.1'): Promise<string> {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  sites.respond(`http://${host}:PORT/robots.txt`, { status: 200, body })
  return sites.withPort(`http://${host}:PORT/page`)
}

const check = (url: string, options = '') => `
  const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0, ${options} })
  console.log(hasUndici())
  console.log((await client.check('${url}')).because, hasUndici())
  await client.close()`

test('the first request loads undici', async () => {
  const url = await robotsOf('User-agent: *\nDisallow: /page\n')
  expect(await run(check(url))).toBe('false\nrule true')
})

// Bun's own module named undici has neither Client nor connectors.
const AS_BUN = `Object.defineProperty(process, 'versions', { value: { ...process.versions, bun: '1.3.0' } })`

test('on Bun, the fetch of the platform makes the requests', async () => {
  const url = await robotsOf('User-agent: *\nDisallow: /page\n')
  expect(await run(check(url), AS_BUN)).toBe('false\nrule false')
})

const privateTargets: [name: string, url: string, options: string][] = [
  ['an address', 'http://127.0.0.1:9/page', ''],
  [
    'a name',
    'http://example.com:9/page',
    `lookup: (_, options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),`,
  ],
  ['a name of the hosts file', 'http://localhost:9/page', ''],
]

test.for(privateTargets)(
  'on Bun, the guard refuses %s that is not public, before the request',
  async ([, url, lookup]) => {
    const program = `
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'public-only', retries: 0, ${lookup} })
    console.log((await client.check('${url}')).access.reason)
    await client.close()`
    expect(await run(program, AS_BUN)).toBe('blocked-address')
  },
)

test('loading undici keeps the global dispatcher of an older version', async () => {
  const url = await robotsOf('User-agent: *\n')
  const key = "Symbol.for('undici.globalDispatcher.1')"
  const printed = await run(
    `${check(url, "robotsVia: 'own'")}
     console.log(globalThis[${key}] === before)`,
    `const before = { dispatch: () => true }
     globalThis[${key}] = before`,
  )
  expect(printed.split('\n').at(-1)).toBe('true')
})

test('the first request loads the transports', async () => {
  const url = await robotsOf('User-agent: *\nDisallow: /page\n')
  const before = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    const isLoaded = (name) => loaded.some((url) => url.endsWith('/fetch/' + name + '.ts'))`
  const program = `
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0 })
    console.log(isLoaded('robots-fetcher'), isLoaded('body'), isLoaded('transports'))
    await client.check('${url}')
    console.log(isLoaded('body'), isLoaded('transports'))
    await client.close()`
  expect(await run(program, before)).toBe('true false false\ntrue true')
})

/** Calls `whileLoading` whenever the transports are loaded. */
const duringLoad = (whileLoading: string) => `
  const { registerHooks } = await import('node:module')
  let loads = 0
  registerHooks({
    load(url, context, next) {
      if (url.endsWith('/fetch/transports.ts')) { loads++; ${whileLoading} }
      return next(url, context)
    },
  })`

test('a request after one that could not load the transports loads them', async () => {
  const url = await robotsOf('User-agent: *\nDisallow: /page\n')
  const before = duringLoad(
    `if (loads === 1) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })`,
  )
  const program = `
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0 })
    console.log(await client.check('${url}').catch(({ code }) => code))
    console.log((await client.check('${url}')).because, loads)
    await client.close()`
  expect(await run(program, before)).toBe('EMFILE\nrule 2')
})

test('a client that is closed while the transports are loaded sends nothing', async () => {
  const program = `
    let requests = 0
    const fetch = async () => { requests++; return new Response('') }
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch })
    console.log(await client.check('http://a.test/').catch(({ code }) => code))
    await closing
    console.log(requests, loads)`
  const before = `let closing; ${duringLoad(`closing = client.close()`)}`
  expect(await run(program, before)).toBe('ERR_POLITELY_CLIENT_CLOSED\n0 1')
})

test('a lookup uses node:dns as a test mocks it', async () => {
  const url = await robotsOf('User-agent: *\nDisallow: /page\n', 'mocked.test')
  const mock =
    "data:text/javascript,export const lookup = (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }])"
  const before = `
    const { registerHooks } = await import('node:module')
    const resolve = (id, context, next) =>
      id === 'node:dns' && context.conditions.includes('import') ? { url: ${JSON.stringify(mock)}, shortCircuit: true } : next(id, context)
    registerHooks({ resolve })`
  expect(await run(check(url), before)).toBe('false\nrule true')
})

test('the first call of `usage` loads the parsers of headers and pages', async () => {
  const url = await robotsOf('')
  const before = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    const hasParsers = () => loaded.some((url) => url.includes('/usage/'))`
  const program = `
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0 })
    await client.check('${url}')
    console.log(hasParsers())
    await client.usage('${url}')
    console.log(hasParsers())
    await client.close()`
  expect(await run(program, before)).toBe('false\ntrue')
})
