// The crawlers of search engines other than Google.
import type { OperatorPage } from './known-crawler.ts'

const READ = '2026-11-25'
/** The date of a list that quotes the operator's page. */
const QUOTED = '2026-08-22'

export const searchEngines: readonly OperatorPage[] = [
  {
    operator: 'Microsoft',
    source: 'https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0',
    readOn: READ,
    crawlers: [
      { token: 'bingbot', purpose: 'search', obeys: 'yes' },
      { token: 'AdIdxBot', purpose: 'advertising' },
      { token: 'BingPreview', purpose: 'preview' },
      { token: 'MicrosoftPreview', purpose: 'preview' },
      { token: 'BingVideoPreview', purpose: 'preview' },
      { token: 'msnbot', purpose: 'search', retired: { since: '2010', replacedBy: ['bingbot'] } },
      { token: 'msnbot-media', purpose: 'search', retired: { since: undefined, replacedBy: ['bingbot'] } },
    ],
  },
  {
    operator: 'Apple',
    source: 'https://support.apple.com/en-us/119829',
    readOn: READ,
    crawlers: [
      { token: 'Applebot', purpose: 'search', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'Applebot-Extended', purpose: 'ai-training', obeys: 'yes', isControl: true },
      { token: 'iTMS', purpose: 'preview', obeys: 'no' },
    ],
  },
  {
    operator: 'Yandex',
    source: 'https://yandex.com/support/webmaster/en/robot-workings/user-agent',
    readOn: READ,
    crawlers: [
      { token: 'YandexBot', purpose: 'search', obeys: 'yes', fallbacks: ['Yandex'] },
      { token: 'YandexImages', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexVideo', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexMedia', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexBlogs', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexNews', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexMarket', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexRenderResourcesBot', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexMobileBot', purpose: 'search', fallbacks: ['Yandex'] },
      { token: 'YandexDirect', purpose: 'advertising', fallbacks: ['Yandex'] },
      { token: 'YandexMetrika', purpose: 'monitoring', fallbacks: ['Yandex'] },
      { token: 'YandexPagechecker', purpose: 'monitoring', fallbacks: ['Yandex'] },
    ],
  },
  {
    operator: 'Yandex',
    source: 'https://yandex.ru/support/webmaster/en/search-appearance/fast.html',
    readOn: QUOTED,
    crawlers: [
      { token: 'YandexAdditional', purpose: 'ai-search', obeys: 'yes' },
      { token: 'YandexAdditionalBot', purpose: 'ai-search', obeys: 'yes' },
    ],
  },
  {
    operator: 'Baidu',
    source: 'https://www.baidu.com/search/robots_english.html',
    readOn: READ,
    crawlers: [
      { token: 'Baiduspider', purpose: 'search', obeys: 'yes' },
      { token: 'Baiduspider-image', purpose: 'search' },
      { token: 'Baiduspider-video', purpose: 'search' },
      { token: 'Baiduspider-news', purpose: 'search' },
    ],
  },
  {
    operator: 'DuckDuckGo',
    source: 'https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot/',
    readOn: READ,
    crawlers: [{ token: 'DuckDuckBot', purpose: 'search', obeys: 'yes' }],
  },
  {
    operator: 'DuckDuckGo',
    source: 'https://duckduckgo.com/duckduckgo-help-pages/results/duckassistbot/',
    readOn: READ,
    crawlers: [{ token: 'DuckAssistBot', purpose: 'ai-assistant', obeys: 'yes' }],
  },
  {
    operator: 'Seznam',
    source: 'https://napoveda.seznam.cz/en/full-text-search/crawling-control',
    readOn: READ,
    crawlers: [{ token: 'SeznamBot', purpose: 'search', obeys: 'yes' }],
  },
  {
    operator: 'Naver',
    source: 'https://searchadvisor.naver.com/guide/seo-basic-robots',
    crawlers: [
      { token: 'Yeti', purpose: 'search' },
      { token: 'NaverBot', purpose: 'search', retired: { since: undefined, replacedBy: ['Yeti'] } },
    ],
  },
  {
    operator: 'Brave',
    source: 'https://search.brave.com/help/brave-search-crawler',
    readOn: QUOTED,
    crawlers: [{ token: 'Bravebot', purpose: 'search', obeys: 'yes' }],
  },
  {
    operator: 'Mojeek',
    source: 'https://www.mojeek.com/bot.html',
    readOn: READ,
    crawlers: [{ token: 'MojeekBot', purpose: 'search', obeys: 'yes' }],
  },
  {
    operator: 'Qwant',
    source: 'https://help.qwant.com/bot/',
    readOn: READ,
    crawlers: [
      { token: 'Qwantbot', purpose: 'search', obeys: 'yes' },
      { token: 'Qwantbot-news', purpose: 'search', obeys: 'yes' },
      { token: 'Qwantify', purpose: 'search', retired: { since: undefined, replacedBy: ['Qwantbot'] } },
    ],
  },
  {
    operator: 'Kagi',
    source: 'https://kagi.com/bot',
    readOn: READ,
    crawlers: [
      { token: 'Kagibot', purpose: 'search', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'kagi-fetcher', purpose: 'ai-assistant' },
    ],
  },
  {
    operator: 'Huawei',
    source: 'https://webmaster.petalsearch.com/site/petalbot',
    readOn: QUOTED,
    crawlers: [
      { token: 'PetalBot', purpose: 'search', obeys: 'yes' },
      { token: 'AspiegelBot', purpose: 'search', retired: { since: undefined, replacedBy: ['PetalBot'] } },
    ],
  },
  {
    operator: 'Sogou',
    source: 'https://www.sogou.com/docs/help/webmasters.htm',
    crawlers: [{ token: 'Sogou', name: 'Sogou web spider', purpose: 'search' }],
  },
  {
    operator: 'Qihoo 360',
    source: 'https://www.so.com/help/help_3_2.html',
    crawlers: [{ token: '360Spider', purpose: 'search' }],
  },
  { operator: 'Shenma', source: 'https://m.sm.cn/', crawlers: [{ token: 'YisouSpider', purpose: 'search' }] },
  {
    operator: 'Cốc Cốc',
    source: 'https://help.coccoc.com/searchengine',
    crawlers: [{ token: 'coccocbot-web', purpose: 'search' }],
  },
  { operator: 'Kakao', source: 'https://cs.daum.net/', crawlers: [{ token: 'Daum', purpose: 'search' }] },
  {
    operator: 'VK',
    source: 'https://help.mail.ru/webmaster/indexing/robots.txt',
    crawlers: [{ token: 'Mail', name: 'Mail.RU_Bot', purpose: 'search' }],
  },
  {
    operator: 'Yahoo',
    source: 'https://help.yahoo.com/kb/search-for-desktop/SLN22600.html',
    crawlers: [{ token: 'Slurp', purpose: 'search' }],
  },
  {
    operator: 'Ask',
    source: 'https://www.ask.com/',
    crawlers: [{ token: 'Teoma', purpose: 'search', retired: { since: '2010', replacedBy: [] } }],
  },
  {
    operator: 'Neeva',
    source: 'https://neeva.com/',
    crawlers: [{ token: 'Neevabot', purpose: 'search', retired: { since: '2023', replacedBy: [] } }],
  },
  {
    operator: 'Gigablast',
    source: 'https://www.gigablast.com/',
    crawlers: [{ token: 'Gigabot', purpose: 'search', retired: { since: '2023', replacedBy: [] } }],
  },
  {
    operator: 'Blekko',
    source: 'https://blekko.com/',
    crawlers: [{ token: 'ScoutJet', purpose: 'search', retired: { since: '2015', replacedBy: [] } }],
  },
]
