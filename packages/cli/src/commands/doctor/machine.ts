// The checks that make no requests: Node, proxy variables, the names of the crawler, the store.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { productTokenOf } from '@politely/core'
import { isCrawlerName } from '@politely/core/crawlers'
import { explainMissingToken, withoutCredentials } from '@politely/core/engine'
import type { Arguments } from '../../command-line.ts'
import { UsageError } from '../../errors.ts'
import { storeFileOf, withStoreFile } from '../../input/store.ts'
import { countText, sizeText } from '../../output/amounts.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** As `engines` of package.json says; a test compares them. */
export const NEEDED_NODE = '22.19.0'
/** A store has at most 1 GiB. */
const LITTLE_SPACE = 1024 ** 3

export function checkNode(version: string = process.versions.node): Finding {
  const isNewEnough = version.localeCompare(NEEDED_NODE, 'en', { numeric: true }) >= 0
  if (isNewEnough) return ok('Node', `${version}`)
  return fail('Node', `${version} is older than ${NEEDED_NODE}; install a newer Node`)
}

/** The variables, in the order in which Node reads them. */
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/** Says which way requests take. */
export function checkProxy(args: Arguments, url: string | undefined): Finding {
  const given = args.get('proxy')
  if (given !== undefined) return ok('proxy', `--proxy: all requests go through ${withoutCredentials(given)}`)
  const scheme = url === undefined ? '' : (URL.parse(url)?.protocol.slice(0, -1) ?? '')
  const set = PROXY_VARIABLES.filter((name) => process.env[name] && name.toLowerCase().startsWith(scheme))
  const [name] = set
  if (name === undefined) return ok('proxy', 'no proxy variable is set; requests go directly to the sites')
  const value = withoutCredentials(process.env[name] ?? '')
  const except = process.env.no_proxy || process.env.NO_PROXY
  if (process.env.NODE_USE_ENV_PROXY === '1') {
    const but = except ? `, except to ${except} (NO_PROXY)` : ''
    return ok(
      'proxy',
      `${name}: requests go through ${value}${but}; the proxy connects, so the network guard sees only names`,
    )
  }
  return warn(
    'proxy',
    `${name} is ${value}, but Node does not use it; set NODE_USE_ENV_PROXY=1, or write --proxy ${value}`,
  )
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
  if (!/https?:\/\/|@/.test(userAgent))
    return ok(
      'crawler',
      `${looksFor}; a URL in the header, such as (+https://example.com/bot), tells a site whom to ask`,
    )
  return ok('crawler', looksFor)
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
