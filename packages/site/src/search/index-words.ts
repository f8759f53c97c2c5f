// Words that lead to a page in the search although the page does not use them, or uses them less than
// other pages do: what people call its subject, symptoms, and names of other tools.

import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pageOf, pages } from '../docs/pages.ts'
import { ROOT } from '../docs/repository.ts'

/** By page. Common words, such as "the" and "how", are not needed: src/search/pagefind.js ignores them. */
const WORDS: Readonly<Record<string, string>> = {
  'getting-started':
    'tutorial quick start install setup begin hello world example first crawler set user agent userAgent string header custom useragent bot name product token identify',
  comparison: 'compare comparison alternatives difference better instead crawlee robots-parser scrapy',
  packages: 'which package install npm list of packages examples',
  migrating:
    'migrate migration switch port replace from scrapy settings heritrix stormcrawler bottleneck p-queue p-limit ROBOTSTXT_OBEY obey',
  'robots-parser': 'robots-parser drop-in replacement isAllowed getCrawlDelay getSitemaps samclarke',
  glossary: 'glossary terms definition what does mean meaning vocabulary',
  'playground-guide':
    'webmaster seo site owner blocked by robots.txt google search console googlebot blocked css style sheets javascript block ai bots GPTBot ClaudeBot CCBot PerplexityBot disallow ai crawler test my robots.txt validator tester submitted url blocked',
  verdicts:
    'allow versus disallow precedence priority which rule wins decides longest match specific order conflict overlapping why is url allowed disallowed reason explain verdict can fetch isAllowed check url',
  dialects:
    'wildcard wildcards asterisk star * $ dollar sign end of url anchor pattern matching syntax regex google yandex bing differences standards 1994 koster draft case sensitive',
  records:
    'crawl-delay crawldelay request-rate visit-time host clean-param sitemap line unknown field directive unsupported custom directive read parse',
  usage:
    'noindex nofollow noai noarchive nosnippet meta robots tag x-robots-tag header ai training opt out train llm content-signal content signals content-usage aipref tdmrep tdm rsl license licensing permission copyright may I use store index page data mining',
  lint: 'lint linter validate validator syntax error mistakes check my robots.txt typo wrong fix warnings',
  'polite-fetch':
    'fetch wrapper wrap global fetch middleware redirect followed 301 302 redirects to other site link links of a page relative url refusal catch error disallowed RobotsDisallowedError globalThis.fetch',
  waiting:
    'wait waiting rate limit rate limiting throttle throttling requests per second rps qps per domain per host per site per ip concurrency concurrent parallel simultaneous limit queue delay between requests abort cancel AbortSignal AbortController how long eta estimate max wait priority permit release slot how fast too fast pace 429 too many requests 503 service unavailable 430 529 backoff back off exponential rate limited slow down overload ban banned blocked temporarily pause',
  'sites-that-fail':
    'site down offline unavailable dead host circuit breaker stop requesting failing server errors 500 502 504 403 forbidden give up connection refused reset unreachable',
  outcomes:
    'captcha cloudflare challenge bot protection bot detection anti bot datadome akamai turnstile soft 404 login wall paywall 402 payment required 403 forbidden 401 unauthorized blocked banned block page access denied status code classify',
  identity:
    'identity identify crawler bot page about bot.html contact user agent ip ranges ips addresses json prefixes ptr reverse dns rdns fcrdns verified bot register allowlist whitelist cloudflare aws waf google vercel akamai key keys rotate rotation jwk jwks ed25519 key directory signature agent card best practices cbcp jafar operator checklist',
  'signed-requests':
    'sign signed signature signatures web bot auth web-bot-auth verified bot verify bot cloudflare signed agents http message signatures rfc 9421 Signature-Agent Signature-Input Accept-Signature ed25519 jwk jwks key directory keys kms identity prove who you are shopify',
  revisit:
    'recrawl re-crawl revisit schedule how often crawl again refresh frequency interval next visit change rate freshness changefreq incremental',
  'pace-options':
    'delay between requests crawl speed faster slower speed up slow down throttle DOWNLOAD_DELAY autothrottle jitter random delay randomize ignore robots.txt disable disobey own site override crawl-delay per site settings budget max pages page limit per site subdomain subdomains www registrable domain ip address retry-after retry after ratelimit ratelimit-reset x-ratelimit-remaining',
  fetching:
    'cache robots.txt cached ttl expire expires how long max-age cache-control etag if-none-match if-modified-since last-modified 304 not modified refresh refetch 404 not found 403 5xx 500 503 unreachable server error missing robots.txt no robots.txt empty redirect redirected robots.txt redirects to other domain ssrf private ip internal address localhost 127.0.0.1 metadata service dns size limit 500 kib too large big file gzip prefetch ftp http https port subdomain encoding bom',
  'undici-and-node-http':
    'undici dispatcher agent interceptor node http https module request setGlobalDispatcher pool proxyagent',
  sitemaps:
    'sitemap sitemap.xml sitemap index sitemapindex gz gzip compressed xml parse lastmod changed since incremental rss atom feed txt sitemap urls list all pages of a site read discover large sitemap 50000',
  testing:
    'offline test offline tests mock mocking stub fake server fake web unit test vitest jest node:test mocha nock msw fixture without network simulate fake timers clock e2e integration',
  production:
    'timeout timeouts time limit hang hangs hung stuck deadline requestTimeoutMs bodyTimeout slow response proxy proxies http_proxy https_proxy no_proxy socks socks5 rotating proxy vpn corporate retry retries failed request out of memory oom heap memory leak memory usage deploy deployment docker kubernetes sigterm graceful shutdown stop serverless lambda vercel next.js nextjs edge function netlify cloud prometheus grafana metrics monitoring dashboard cluster workers processes',
  troubleshooting:
    'troubleshooting problem does not work not working help debug issue everything disallowed everything allowed blocked by robots.txt refused crawl delay too long waits forever never ends hangs stuck too slow too fast ignores robots.txt not respected process does not exit keeps running never exits html instead of robots.txt wrong group fetched again empty sitemap duplicate instanceof',
  observing:
    'log logs logging logger debug verbose trace tracing opentelemetry otel spans diagnostics_channel metrics prometheus counters gauges statistics stats events monitor inspect state password credentials',
  stores:
    'redis sqlite keyv store persist persistence persistent cache disk file database share cache between processes survive restart RedisStore SqliteStore MemoryStore ioredis valkey save',
  postgres:
    'postgres postgresql sql pg database fleet shared pace PostgresPacer PostgresStore migrate migration schema pgbouncer functions reserve python go lib/pq psycopg psycopg2 pg-boss graphile-worker unlogged',
  fleet:
    'fleet distributed several multiple machines processes workers servers instances pods kubernetes k8s cluster scale out horizontally share rate limit shared pace redis RedisPacer coordinate lock',
  pacers:
    'custom pacer own pacer implement interface RedisPacer LocalPacer write a pacer reserve postgres database backend',
  scale:
    'millions of sites billion urls large crawl frontier big scale web-scale how many capacity simulation url queue',
  speed: 'benchmark benchmarks performance fast speed ops per second compare parser speed overhead latency',
  frameworks: 'framework which framework integrate integration adapter adapters supported libraries comparison table',
  adopt:
    'adopt embed existing program existing code patch pull request framework maintainer link checker linkinator unlighthouse firecrawl browsertrix langchain RecursiveUrlLoader',
  'http-clients':
    'axios got ky node-fetch superagent needle request cheerio http client selenium webdriver browserless langchain document loader node-crawler llamaindex interceptor hook',
  crawlee:
    'crawlee apify CheerioCrawler PlaywrightCrawler PuppeteerCrawler BasicCrawler HttpCrawler respectRobotsTxtFile onSkippedRequest enqueueLinks sameDomainDelaySecs skipped requests actor',
  browsers:
    'browser headless chrome chromium firefox webkit screenshots block images scripts subresources iframe websocket download service worker prefetch speculation rules',
  playwright: 'playwright chromium page.goto route withRobots browser context',
  puppeteer: 'puppeteer chrome page.goto setRequestInterception request interception handler',
  serve:
    'serve server sidecar service daemon http api permit permits lease python scrapy requests go golang rust java php curl language languages rate limiter shared gate several programs urlfrontier openapi token tenant quota metrics unix socket',
  mcp: 'mcp model context protocol claude cursor chatgpt llm agent tool ai assistant fetch server',
  cli: 'command line cli terminal npx politely shell bash exit code status flags options --json user-agent flag who in my access log broke robots.txt logs log file analysis which bots crawlers broke ignore violate disobey break rules offenders server log apache nginx by-agent --by-agent submitted url marked noindex list of urls sitemap urls',
  ci: 'ci continuous integration github action actions workflow gitlab pipeline pre-commit hook husky pull request test robots.txt deploy check code scanning',
  'reference/output-formats': 'output format json ndjson jsonl csv sarif junit schema machine readable parse output',
  options: 'options option list all settings configuration config default defaults parameters',
  'reference/errors':
    'error code codes ERR_POLITELY exception throws thrown catch message warning ECONNREFUSED ECONNRESET ETIMEDOUT ENOTFOUND EAI_AGAIN CERT_HAS_EXPIRED UND_ERR certificate tls dns failure',
  'reference/lint-findings': 'lint rule rules findings list codes warning finding',
  'reference/known-crawlers':
    'googlebot bingbot gptbot claudebot anthropic openai perplexitybot ccbot bytespider applebot meta amazonbot yandexbot baiduspider ahrefsbot semrushbot list of bots crawlers user agents does obey robots.txt crawl-delay ignore google-extended fallback googlebot-news googlebot-image adsbot which crawlers',
  conformance:
    'rfc 9309 compliance compliant conformance standard specification spec google parser same result percent encoding utf-8 unicode encoded',
  'reference/conformance': 'parsers differ differences between libraries test cases',
  'reference/misbehaving-servers':
    'broken server truncated body chunked malformed response slowloris infinite redirect loop',
  security:
    'security vulnerability report cve hostile site ssrf attack redos denial of service threat supply chain privacy',
  runtimes:
    'node version deno bun cloudflare workers workerd browser typescript version types esm commonjs require cjs support supported engines',
  versioning: 'semver breaking change stable api support policy version',
  changelog: 'changelog release notes what is new history versions',
}

/** Pages whose matches count less: a guide answers a question better than a list of names. */
const WEIGHTS: readonly (readonly [page: RegExp, weight: string])[] = [
  [/^reference\/api/, '0.2'],
  [/^(changelog|glossary|comparison)$/, '0.4'],
  [/^reference\/(conformance|usage-cases|misbehaving-servers|sitemap-readers)$/, '0.4'],
]

/** Returns the weight of the text of a page in the search; 1 if undefined. */
export function weightOf(page: string): string | undefined {
  return WEIGHTS.find(([pattern]) => pattern.test(page))?.[1]
}

/** Returns the words that lead to a page, and the names that it explains. */
export function indexWordsOf(page: string): { readonly words: string; readonly names: string } {
  const names = Object.entries(namedSections()).filter(([, section]) => section.startsWith(`${page}/#`))
  return { words: WORDS[page] ?? '', names: names.map(([name]) => name).join(' ') }
}

let named: Readonly<Record<string, string>> | undefined

/**
 * Returns the sections that explain each option, to which its name leads in docs/options.md, and each error code:
 * `maxWaitMs: 'waiting/#limiting-the-wait'`. The first option of a name counts.
 */
export function namedSections(): Readonly<Record<string, string>> {
  if (named !== undefined) return named
  const sections: Record<string, string> = {}
  const options = readFileSync(join(ROOT, 'docs/options.md'), 'utf8')
  for (const [, name = '', link = '', id = ''] of options.matchAll(/^\| \[`([\w.]+)`\]\(([^)#]+)#([^)]*)\) \|/gm)) {
    sections[name] ??= `${pageOf(posix.join('docs', link))}/#${id}`
  }
  const errors = readFileSync(join(ROOT, 'docs/reference/errors.md'), 'utf8')
  for (const [, code = ''] of errors.matchAll(/^\| `((?:ERR_)?POLITELY_\w+)`/gm)) {
    sections[code] ??= `reference/errors/#${code.toLowerCase()}`
  }
  named = sections
  return sections
}

const existing = new Set(pages())
const unknown = Object.keys(WORDS).filter((page) => !existing.has(page))
if (unknown.length > 0)
  throw new Error(`packages/site/src/search/index-words.ts has words of missing pages: ${unknown.join(', ')}`)
