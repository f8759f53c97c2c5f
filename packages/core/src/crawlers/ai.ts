// The crawlers of companies whose product is AI, or that collect data for it.
import type { OperatorPage } from './known-crawler.ts'

const READ = '2026-11-25'
/** The dates of two lists that quote the operators' pages. */
const QUOTED = '2026-08-22'
const QUOTED_LATER = '2026-08-28'
/** The date of a list that quotes the page of Moonshot AI. */
const QUOTED_LAST = '2026-09-28'

export const ai: readonly OperatorPage[] = [
  {
    operator: 'OpenAI',
    source: 'https://developers.openai.com/api/docs/bots',
    readOn: QUOTED_LATER,
    crawlers: [
      { token: 'GPTBot', purpose: 'ai-training', obeys: 'yes' },
      { token: 'OAI-SearchBot', purpose: 'ai-search', obeys: 'yes' },
      { token: 'ChatGPT-User', purpose: 'ai-assistant', obeys: 'no' },
    ],
  },
  {
    operator: 'OpenAI',
    source: 'https://help.openai.com/en/articles/20001243-advertiser-guidance-for-allowing-openai-web-crawlers',
    readOn: READ,
    crawlers: [{ token: 'OAI-AdsBot', purpose: 'advertising', obeys: 'yes' }],
  },
  {
    operator: 'Anthropic',
    source: 'https://privacy.claude.com/en/articles/8896518',
    readOn: READ,
    crawlers: [
      { token: 'ClaudeBot', purpose: 'ai-training', obeys: 'yes' },
      { token: 'Claude-SearchBot', purpose: 'ai-search', obeys: 'yes' },
      { token: 'Claude-User', purpose: 'ai-assistant', obeys: 'yes' },
      {
        token: 'Claude-Web',
        purpose: 'ai-assistant',
        retired: { since: undefined, replacedBy: ['ClaudeBot', 'Claude-User', 'Claude-SearchBot'] },
      },
      {
        token: 'anthropic-ai',
        purpose: 'ai-training',
        retired: { since: undefined, replacedBy: ['ClaudeBot', 'Claude-User', 'Claude-SearchBot'] },
      },
    ],
  },
  {
    operator: 'Perplexity',
    source: 'https://docs.perplexity.ai/docs/resources/perplexity-crawlers',
    readOn: QUOTED_LATER,
    crawlers: [
      { token: 'PerplexityBot', purpose: 'ai-search', obeys: 'yes' },
      { token: 'Perplexity-User', purpose: 'ai-assistant', obeys: 'no' },
    ],
  },
  {
    operator: 'Meta',
    source: 'https://developers.facebook.com/docs/sharing/webmasters/web-crawlers/',
    readOn: READ,
    crawlers: [
      { token: 'meta-externalagent', purpose: 'ai-training', obeys: 'yes' },
      { token: 'meta-webindexer', purpose: 'ai-search', obeys: 'yes' },
      { token: 'meta-externalfetcher', purpose: 'ai-assistant', obeys: 'no' },
      { token: 'meta-externalads', purpose: 'advertising', obeys: 'yes' },
      { token: 'facebookexternalhit', purpose: 'preview' },
      { token: 'facebookcatalog', purpose: 'preview' },
      { token: 'Facebot', purpose: 'preview' },
    ],
  },
  {
    operator: 'Meta',
    source: 'https://developers.facebook.com/docs/sharing/bot/',
    readOn: QUOTED,
    crawlers: [{ token: 'FacebookBot', purpose: 'ai-training', obeys: 'yes' }],
  },
  {
    operator: 'Amazon',
    source: 'https://developer.amazon.com/amazonbot',
    readOn: READ,
    crawlers: [
      { token: 'Amazonbot', purpose: 'ai-training', obeys: 'yes' },
      { token: 'Amzn-SearchBot', purpose: 'ai-search', obeys: 'yes' },
      { token: 'Amzn-User', purpose: 'ai-assistant', obeys: 'yes' },
    ],
  },
  {
    operator: 'Amazon',
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/webcrawl-data-source-connector.html',
    readOn: QUOTED,
    crawlers: [{ token: 'bedrockbot', purpose: 'ai-search', obeys: 'yes' }],
  },
  {
    operator: 'Amazon',
    source: 'https://docs.aws.amazon.com/amazonq/latest/qbusiness-ug/stop-web-crawler.html',
    crawlers: [
      { token: 'amazon-QBusiness', purpose: 'ai-search' },
      { token: 'amazon-kendra', purpose: 'ai-search' },
      { token: 'NovaAct', purpose: 'ai-agent' },
      { token: 'AmazonBuyForMe', purpose: 'ai-agent' },
    ],
  },
  {
    operator: 'Microsoft',
    source: 'https://azure.microsoft.com/en-us/products/ai-services/ai-search',
    crawlers: [{ token: 'AzureAI-SearchBot', purpose: 'ai-search' }],
  },
  {
    operator: 'Google',
    source: 'https://gemini.google/overview/deep-research/',
    crawlers: [
      { token: 'Gemini-Deep-Research', purpose: 'ai-assistant' },
      { token: 'GoogleAgent-URLContext', purpose: 'ai-assistant' },
      { token: 'GoogleAgent-Mariner', purpose: 'ai-agent' },
    ],
  },
  {
    operator: 'Common Crawl',
    source: 'https://commoncrawl.org/ccbot',
    readOn: QUOTED,
    crawlers: [{ token: 'CCBot', purpose: 'ai-training', obeys: 'yes' }],
  },
  {
    operator: 'ByteDance',
    source: 'https://www.bytedance.com/en/',
    crawlers: [
      { token: 'Bytespider', purpose: 'ai-training' },
      { token: 'TikTokSpider', purpose: 'ai-training' },
    ],
  },
  {
    operator: 'Mistral',
    source: 'https://docs.mistral.ai/en/robots',
    readOn: READ,
    crawlers: [
      { token: 'MistralAI-User', purpose: 'ai-assistant', obeys: 'yes' },
      { token: 'MistralAI-Index', purpose: 'ai-search', obeys: 'yes' },
      { token: 'MistralAI-Training', purpose: 'ai-training', obeys: 'yes' },
    ],
  },
  {
    operator: 'Cohere',
    source: 'https://cohere.com/',
    crawlers: [
      { token: 'cohere-ai', purpose: 'ai-assistant' },
      { token: 'cohere-training-data-crawler', purpose: 'ai-training' },
    ],
  },
  {
    operator: 'DeepSeek',
    source: 'https://www.deepseek.com/',
    crawlers: [{ token: 'DeepSeekBot', purpose: 'ai-training' }],
  },
  {
    operator: 'Moonshot AI',
    source: 'https://www.kimi.com/policies/kimi-crawlers',
    readOn: QUOTED_LAST,
    crawlers: [
      { token: 'KimiBot', purpose: 'ai-training' },
      { token: 'Kimi-SearchBot', purpose: 'ai-search' },
      { token: 'Kimi-User', purpose: 'ai-assistant' },
    ],
  },
  {
    operator: 'Zhipu AI',
    source: 'https://www.zhipuai.cn/',
    crawlers: [{ token: 'ChatGLM-Spider', purpose: 'ai-training' }],
  },
  {
    operator: 'Alibaba',
    source: 'https://tongyi.aliyun.com/',
    crawlers: [{ token: 'TongyiBot', purpose: 'ai-assistant' }],
  },
  { operator: 'Baidu', source: 'https://yiyan.baidu.com/', crawlers: [{ token: 'YiyanBot', purpose: 'ai-assistant' }] },
  { operator: 'Manus', source: 'https://manus.im/', crawlers: [{ token: 'Manus-User', purpose: 'ai-agent' }] },
  {
    operator: 'You.com',
    source: 'https://about.you.com/youbot/',
    readOn: QUOTED,
    crawlers: [{ token: 'YouBot', purpose: 'ai-search', obeys: 'yes' }],
  },
  {
    operator: 'Ai2',
    source: 'https://allenai.org/crawler',
    readOn: QUOTED,
    crawlers: [
      { token: 'AI2Bot', purpose: 'ai-training', obeys: 'yes' },
      { token: 'Ai2Bot-Dolma', purpose: 'ai-training', obeys: 'yes' },
    ],
  },
  {
    operator: 'Diffbot',
    source: 'https://docs.diffbot.com/docs/does-crawl-respect-robotstxt',
    readOn: READ,
    crawlers: [
      { token: 'Diffbot', purpose: 'scraper', obeys: 'yes' },
      { token: 'Diffbot-User', purpose: 'ai-assistant' },
    ],
  },
  {
    operator: 'Webz.io',
    source: 'https://webz.io/blog/web-data/what-is-the-omgili-bot-and-why-is-it-crawling-your-website/',
    readOn: QUOTED,
    crawlers: [
      { token: 'omgili', purpose: 'scraper', obeys: 'yes' },
      { token: 'omgilibot', purpose: 'scraper', obeys: 'yes' },
      { token: 'Webzio-Extended', purpose: 'ai-training', isControl: true },
    ],
  },
  {
    operator: 'Hive',
    source: 'https://imagesift.com/about',
    readOn: QUOTED,
    crawlers: [{ token: 'ImagesiftBot', purpose: 'scraper', obeys: 'yes' }],
  },
  {
    operator: 'Firecrawl',
    source: 'https://www.firecrawl.dev/',
    crawlers: [{ token: 'FirecrawlAgent', purpose: 'scraper' }],
  },
  {
    operator: 'Parallel',
    source: 'https://docs.parallel.ai/features/crawler',
    readOn: QUOTED,
    crawlers: [
      { token: 'ShapBot', purpose: 'ai-search', obeys: 'yes' },
      { token: 'Shap-User', purpose: 'ai-assistant' },
    ],
  },
  { operator: 'Tavily', source: 'https://www.tavily.com/', crawlers: [{ token: 'TavilyBot', purpose: 'ai-search' }] },
  {
    operator: 'Exa',
    source: 'https://exa.ai/',
    crawlers: [
      { token: 'ExaBot', purpose: 'ai-search' },
      { token: 'ExaSearchBot', purpose: 'ai-search' },
    ],
  },
  {
    operator: 'Querit',
    source: 'https://www.querit.ai/',
    crawlers: [
      { token: 'QueritBot', purpose: 'ai-search' },
      { token: 'Querit-SearchBot', purpose: 'ai-search' },
    ],
  },
  {
    operator: 'iAsk',
    source: 'https://iask.ai/',
    crawlers: [
      { token: 'iAskBot', purpose: 'ai-search' },
      { token: 'iaskspider', purpose: 'ai-search' },
    ],
  },
  {
    operator: 'Ceramic AI',
    source: 'https://github.com/CeramicTeam/CeramicTerracotta',
    readOn: QUOTED,
    crawlers: [{ token: 'TerraCotta', purpose: 'ai-search', obeys: 'yes' }],
  },
  {
    operator: 'Mozilla',
    source: 'https://docs.tabstack.ai/trust/controlling-access',
    readOn: QUOTED,
    crawlers: [{ token: 'Mozilla-Tabstack', purpose: 'scraper', obeys: 'yes' }],
  },
  {
    operator: 'Klaviyo',
    source: 'https://help.klaviyo.com/hc/en-us/articles/40496146232219',
    readOn: QUOTED,
    crawlers: [{ token: 'KlaviyoAIBot', purpose: 'ai-assistant', obeys: 'yes' }],
  },
  { operator: 'Cognition', source: 'https://devin.ai/', crawlers: [{ token: 'Devin', purpose: 'ai-agent' }] },
  {
    operator: 'ROIS',
    source: 'https://ds.rois.ac.jp/en_center8/en_crawler/',
    readOn: QUOTED,
    crawlers: [{ token: 'Cotoyogi', purpose: 'ai-training', obeys: 'yes' }],
  },
  {
    operator: 'LAION',
    source: 'https://laion.ai/faq/',
    crawlers: [{ token: 'LAIONDownloader', purpose: 'ai-training' }],
  },
  {
    operator: 'Bright Data',
    source: 'https://brightdata.com/brightbot',
    crawlers: [{ token: 'Brightbot', purpose: 'scraper' }],
  },
  {
    operator: 'Apify',
    source: 'https://apify.com/',
    crawlers: [
      { token: 'ApifyBot', purpose: 'scraper' },
      { token: 'ApifyWebsiteContentCrawler', purpose: 'scraper' },
    ],
  },
  {
    operator: 'aiHit',
    source: 'https://www.aihitdata.com/about',
    readOn: QUOTED,
    crawlers: [{ token: 'aiHitBot', purpose: 'scraper', obeys: 'yes' }],
  },
  { operator: 'Linkup', source: 'https://www.linkup.so/', crawlers: [{ token: 'LinkupBot', purpose: 'ai-search' }] },
  { operator: 'Andi', source: 'https://andisearch.com/', crawlers: [{ token: 'Andibot', purpose: 'ai-search' }] },
  { operator: 'Phind', source: 'https://www.phind.com/', crawlers: [{ token: 'PhindBot', purpose: 'ai-search' }] },
  { operator: 'Timpi', source: 'https://timpi.io/', crawlers: [{ token: 'Timpibot', purpose: 'ai-training' }] },
  {
    operator: 'Huawei',
    source: 'https://www.huawei.com/en/',
    crawlers: [{ token: 'PanguBot', purpose: 'ai-training' }],
  },
  {
    operator: 'Atlassian',
    source: 'https://support.atlassian.com/organization-administration/docs/connect-custom-website-to-rovo/',
    readOn: QUOTED,
    crawlers: [{ token: 'atlassian-bot', purpose: 'ai-search', obeys: 'yes' }],
  },
  {
    operator: 'Cloudflare',
    source: 'https://developers.cloudflare.com/autorag',
    readOn: QUOTED,
    crawlers: [{ token: 'Cloudflare-AutoRAG', purpose: 'ai-search', obeys: 'yes' }],
  },
  {
    operator: 'NICT',
    source: 'https://ucri.nict.go.jp/en/icccrawler.html',
    readOn: QUOTED,
    crawlers: [{ token: 'ICC-Crawler', purpose: 'ai-training', obeys: 'yes' }],
  },
  {
    operator: 'SB Intuitions',
    source: 'https://www.sbintuitions.co.jp/en/bot/',
    readOn: QUOTED,
    crawlers: [{ token: 'SBIntuitionsBot', purpose: 'ai-training', obeys: 'yes' }],
  },
  {
    operator: 'Velen',
    source: 'https://velen.io/',
    readOn: QUOTED,
    crawlers: [{ token: 'VelenPublicWebCrawler', purpose: 'scraper', obeys: 'yes' }],
  },
  {
    operator: 'Panscient',
    source: 'https://panscient.com/faq.htm',
    readOn: QUOTED,
    crawlers: [{ token: 'panscient', name: 'panscient.com', purpose: 'scraper', obeys: 'yes' }],
  },
  {
    operator: 'the users of img2dataset',
    source: 'https://github.com/rom1504/img2dataset',
    crawlers: [{ token: 'img2dataset', purpose: 'ai-training' }],
  },
  {
    operator: 'the users of Scrapy',
    source: 'https://docs.scrapy.org/en/latest/topics/settings.html',
    crawlers: [{ token: 'Scrapy', purpose: 'scraper' }],
  },
]
