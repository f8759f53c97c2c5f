// Names of products and companies that authors write in user-agent lines, although no crawler has
// them: `ChatGPT`, `OpenAI`. Each row has names, and the crawlers that are meant.

/** Names in lower case without other characters than letters and digits, and tokens of the catalogue. */
const ROWS = `
  chatgpt chatgptbot chatgptagent gpt gpt3 gpt4 gpt4o gpt5 openai openaibot openaicrawler searchgpt dalle sora operator: GPTBot, OAI-SearchBot, ChatGPT-User
  anthropic anthropicbot anthropicclaude claude claudeai: ClaudeBot, Claude-SearchBot, Claude-User
  gemini bard googlegemini googlebard googleai geminibot geminiai vertexai googleaibot aioverviews: Google-Extended
  adsbot googleads googleadsbot googleadwords adwords: AdsBot-Google, AdsBot-Google-Mobile
  adsense googleadsense mediapartners: Mediapartners-Google
  googleimage googleimages: Googlebot-Image
  googlenews: Googlebot-News
  googlevideo googlevideos: Googlebot-Video
  googleshopping: Storebot-Google
  meta metaai metabot metacrawler metaexternal llama llama2 llama3: meta-externalagent, meta-webindexer, meta-externalfetcher
  facebook facebookcrawler facebookai instagram: meta-externalagent, facebookexternalhit
  duckduckgo duckduckgobot duckai ddg: DuckDuckBot, DuckAssistBot
  commoncrawl commoncrawlbot commoncrawler: CCBot
  perplexity perplexityai: PerplexityBot, Perplexity-User
  apple siri appleai appleintelligence: Applebot, Applebot-Extended
  amazon amazonai alexa: Amazonbot, Amzn-SearchBot, Amzn-User
  microsoft bing bingai bingchat copilot microsoftcopilot msn: bingbot
  bytedance bytebot doubao toutiao: Bytespider
  tiktok tiktokbot: TikTokSpider, Bytespider
  mistral mistralai mistralbot lechat: MistralAI-Training, MistralAI-Index, MistralAI-User
  cohere coherebot: cohere-training-data-crawler, cohere-ai
  deepseek deepseekai: DeepSeekBot
  moonshot moonshotai moonshotbot kimi kimiai: KimiBot, Kimi-SearchBot, Kimi-User
  alibaba qwen qwenbot tongyi tongyiqianwen: TongyiBot
  baiduai ernie erniebot wenxin yiyan: YiyanBot, Baiduspider
  zhipu zhipuai chatglm glm: ChatGLM-Spider
  huawei petalsearch: PetalBot, PanguBot
  youcom: YouBot
  allenai ai2: AI2Bot, Ai2Bot-Dolma
  laion: LAIONDownloader
  webzio webhose: omgili, omgilibot, Webzio-Extended
  parallel parallelai: ShapBot, Shap-User
  brave bravesearch: Bravebot
  yahoo yahoobot yahooslurp: Slurp
  naver: Yeti
  mailru: Mail.RU_Bot
  internetarchive waybackmachine wayback archiveorg: archive.org_bot
  moz mozbot opensiteexplorer: rogerbot, dotbot
  majestic majesticseo: MJ12bot
  seranking: BLEXBot
  twitter: Twitterbot
`

const TOKENS: ReadonlyMap<string, readonly string[]> = new Map(
  ROWS.trim()
    .split(/\n */)
    .flatMap((row) => {
      const [names = '', tokens = ''] = row.split(': ')
      return names.split(' ').map((name) => [name, tokens.split(', ')] as const)
    }),
)

/** Returns the names of the crawlers that a product or a company has; an empty list for other names. */
export function crawlersOfProduct(name: string): readonly string[] {
  return TOKENS.get(name.toLowerCase().replace(/\/.*|[^a-z\d]/g, '')) ?? []
}

/** Every name of the table, for tests. */
export const PRODUCT_NAMES: readonly string[] = [...TOKENS.keys()]
