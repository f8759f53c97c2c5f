// The checks that make no requests: Node, proxy variables, the names of the crawler, the store.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { productTokenOf } from '@politely/core'
import { isCrawlerName } from '@politely/core/crawlers'
import { explainMissingToken, withoutCredentials } from '@politely/core/internal'
import { isProxyExcluded, proxyVariableFor } from '@politely/fetcher/internal'
import type { Arguments } from '../../command-line.ts'
import { adviceOnContact } from '../../crawler.ts'
import { UsageError } from '../../exit-code.ts'
import { storeFileOf, withStoreFile } from '../../input/store.ts'
import { type Finding, fail, ok, warn } from '../../output/findings.ts'
import { countText, sizeText } from '../../output/style.ts'

/** A store has at most 1 GiB. */
const LITTLE_SPACE = 1024 ** 3

/** An older Node than the packages need does not get here: `@politely/core/node-version` throws. */
export function checkNode(): Finding {
  return ok('Node', process.versions.node)
}

/** Says which way requests take. @param url If it is missing, the variables for all URLs count. */
export function checkProxy(args: Arguments, url: string | undefined): Finding {
  const given = args.get('proxy')
  if (given !== undefined) return ok('proxy', `--proxy: all requests go through ${withoutCredentials(given)}`)
  const name = proxyVariableFor(url) ?? ['all_proxy', 'ALL_PROXY'].find((variable) => process.env[variable])
  if (name === undefined) {
    const site =
      url === undefined ? '; requests go directly to the sites' : ' for this site; requests go directly to it'
    return ok('proxy', `no proxy variable is set${site}`)
  }
  const except = process.env.no_proxy ?? process.env.NO_PROXY
  if (url !== undefined && isProxyExcluded(url))
    return ok('proxy', `${name} is set, but NO_PROXY (${except}) excludes this site; requests go directly to it`)
  // In "user:password@host:8080", "user" would be the scheme.
  const value = process.env[name] ?? ''
  const proxy = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const shown = withoutCredentials(proxy)
  if (usesProxyVariable(url)) {
    const but = except ? `, except to ${except} (NO_PROXY)` : ''
    return ok(
      'proxy',
      `${name}: requests go through ${shown}${but}; the proxy connects, so the network guard sees only names`,
    )
  }
  return warn('proxy', unusedProxy(name, value === proxy, shown))
}

/**
 * Says why Node does not use the proxy of a variable, and what to do.
 * @param url The value of the variable, with `http://` before it if it has no scheme.
 */
function unusedProxy(name: string, hasScheme: boolean, url: string): string {
  const isRead = !/^all_proxy$/i.test(name)
  const value = hasScheme ? url : `${url.replace('http://', '')}, without http://`
  const problem = `${name} is ${value}, but Node does not ${isRead ? 'use' : 'read'} it`
  if (!/^https?:/i.test(url)) return `${problem}; write --proxy with the URL of an HTTP proxy, if there is one`
  if (!canReadVariables()) return `${problem}; write --proxy ${url}`
  const names = isRead ? (hasScheme ? [] : [name]) : ['HTTPS_PROXY', 'HTTP_PROXY']
  const variables = [...names.map((each) => `${each}=${url}`), 'NODE_USE_ENV_PROXY=1']
  return `${problem}; set ${variables.join(' ')}, or write --proxy ${url}`
}

/** Returns whether this version of Node has the option that makes it use proxy variables. */
function canReadVariables(): boolean {
  return process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
}

/** Returns whether Node takes the proxy for a URL from the environment. */
export function usesProxyVariable(url?: string): boolean {
  const { NODE_USE_ENV_PROXY, NODE_OPTIONS = '' } = process.env
  const isOn =
    NODE_USE_ENV_PROXY === '1' || [...process.execArgv, ...NODE_OPTIONS.split(' ')].includes('--use-env-proxy')
  const isExcluded = url !== undefined && isProxyExcluded(url)
  return isOn && canReadVariables() && proxyVariableFor(url) !== undefined && !isExcluded
}

/** Checks the User-Agent header and the names to look for in robots.txt. */
export function checkCrawler(args: Arguments): Finding {
  const userAgent = args.get('user-agent')
  const tokens = args.all('product-token')
  if (userAgent === undefined || userAgent.trim() === '')
    return warn('crawler', '--user-agent is missing; write the header that your crawler sends, to check it')
  const invalid = tokens.find((token) => token === '*' || !isCrawlerName(token))
  if (invalid !== undefined)
    return fail('crawler', `${JSON.stringify(invalid)} is not a product token; write letters, digits, "-" and "_"`)
  const own = productTokenOf(userAgent)
  if (tokens.length === 0 && own === undefined)
    return fail(
      'crawler',
      `${explainMissingToken(userAgent)}; begin it with a name such as ExampleBot/1.0, or write --product-token`,
    )
  const names = tokens.length > 0 ? tokens : [own as string]
  const isNamed = names.some((token) => userAgent.toLowerCase().includes(token.toLowerCase()))
  if (!isNamed)
    return warn(
      'crawler',
      `the User-Agent ${JSON.stringify(userAgent)} does not contain ${names.join(' or ')}, so a site cannot tell which rules the crawler obeys; begin it with ${names[0]}/1.0 (RFC 9309 §2.2.1)`,
    )
  const looksFor = `robots.txt is read for ${names.join(', else ')}`
  return ok('crawler', [looksFor, adviceOnContact(userAgent)].filter((text) => text !== undefined).join('; '))
}

/** Opens the store, writes to it, and looks at the free space of its disk. */
export async function checkStore(args: Arguments): Promise<Finding> {
  const path = storeFileOf(args)
  if (path === undefined) return ok('store', 'none; --store FILE keeps robots.txt between runs')
  if (!existsSync(path)) return checkFolder(path)
  try {
    const count = await withStoreFile(path, async (store) => {
      await store.set(TEST_KEY, 'a test of politely doctor', Date.now() + 60_000)
      await store.delete(TEST_KEY)
      let origins = 0
      for await (const { keepUntil } of store.list()) if (keepUntil > Date.now()) origins++
      return origins
    })
    const { bavail, bsize } = statfsSync(dirname(resolve(path)))
    const free = bavail * bsize
    const text = `${path} can be read and written: ${countText(count, 'origin')}, ${sizeText(free)} free on its disk`
    return free < LITTLE_SPACE ? warn('store', `${text}; a store takes up to 1 GB, so make room`) : ok('store', text)
  } catch (error) {
    if (error instanceof UsageError) return fail('store', error.message.replace(/^--store: /, ''))
    throw error
  }
}

/** Looks only at the folder of a missing file, which the first run creates. */
function checkFolder(path: string): Finding {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) return fail('store', `the folder ${folder} does not exist; create it first`)
  try {
    accessSync(folder, constants.W_OK)
    return ok('store', `${path} does not exist yet; the first run creates it`)
  } catch {
    return fail('store', `the folder ${folder} cannot be written; change its permissions, or write another file`)
  }
}

/** No client writes a text with this name, since it is not an origin. */
const TEST_KEY = 'politely doctor'
