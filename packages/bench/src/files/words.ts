// Words for the URLs and files of invented sites.

export const sections: readonly string[] = (
  'about account admin ads api archive articles assets author backup basket blog bookmarks calendar careers cart ' +
  'catalog category cgi-bin charts checkout clients collections comments community compare config contact content ' +
  'core coupons css customer dashboard data deals demo dev docs download downloads drafts edit email embed events ' +
  'export faq feed feedback files filter flyers forms forum forums gallery games gift group guest help history home ' +
  'hotels i18n images img import includes info internal invite items jobs js journal landing lang layout learn legal ' +
  'library links list live local login logout logs mail maps media member members menu messages misc mobile models ' +
  'modules music my news newsletter notes offers old options order orders pages panel partners password payment photos ' +
  'picks plugins podcasts poll popup preview print private products profile promo public purchase quotes rate ratings ' +
  'recipes redirect register reports reset results reviews rss sale scripts search secure send services settings setup ' +
  'share shop sitemap skins source special sports staff static stats status stories styles subscribe support system ' +
  'tag tags team temp templates terms test themes tickets tmp tools topics track tracking travel trends trial upload ' +
  'uploads user users vendor video videos view vote watch weather widgets wiki wishlist'
).split(' ')

export const plainWords: readonly string[] = (
  'amber anchor apple arrow autumn bakery bamboo barrel basil beacon birch blanket blue border bottle bread bridge ' +
  'bright bronze brook button cabin candle canvas canyon carpet castle cedar cherry circle citrus clover coast coffee ' +
  'copper coral cotton cradle crystal daisy dancer desert distant dolphin dragon drift eagle early ember engine evening ' +
  'falcon feather field finder flame flower forest fossil fountain frost garden gentle ginger glacier golden granite ' +
  'grove harbor harvest hazel hollow honey horizon hunter indigo island ivory jacket jasmine journey jungle kernel ' +
  'kettle kitchen ladder lagoon lantern laurel lemon lilac linen little lively lotus magnet mango maple marble market ' +
  'meadow melody meteor midnight mineral mirror mosaic mountain narrow nectar needle night noble north oak ocean olive ' +
  'onyx orange orchard otter paper parcel pearl pebble pepper picnic pilot planet plum pocket prairie purple quartz ' +
  'quiet rabbit rapid raven ribbon river rocket rose ruby saddle saffron sailor salmon sapphire scarlet shadow silver ' +
  'simple sketch slate small smooth solar south sparrow spring stable steady stone storm summer sunset swift tangle ' +
  'temple thunder timber topaz tower trail tulip tunnel turtle valley vanilla velvet violet walnut water willow window ' +
  'winter wonder yellow zephyr'
).split(' ')

export const parameters: readonly string[] = (
  'a action add_to_cart amp cat category cid cmd color currency date dir display do fbclid filter from gclid id kw lang ' +
  'limit mode month name offset option order orderby p page page_id pageSize post print product q query ref replytocom ' +
  's search session session_id sid size sort sortby sort_order source tab tag theme token type u utm_campaign utm_source ' +
  'v variant view year'
).split(' ')

export const extensions: readonly string[] = 'php html htm asp aspx jsp pdf xml json css js jpg png gif doc cgi'.split(
  ' ',
)

/** Names of real crawlers, and a few invented ones. */
export const crawlers: readonly string[] = (
  'Googlebot Bingbot Slurp DuckDuckBot Baiduspider YandexBot Applebot Googlebot-Image Googlebot-News AdsBot-Google ' +
  'Mediapartners-Google facebookexternalhit Twitterbot LinkedInBot Pinterestbot GPTBot ChatGPT-User OAI-SearchBot ' +
  'ClaudeBot CCBot Google-Extended PerplexityBot Bytespider Amazonbot Applebot-Extended meta-externalagent AhrefsBot ' +
  'SemrushBot MJ12bot DotBot BLEXBot PetalBot SeznamBot ia_archiver archive.org_bot rogerbot Yeti Sogou Exabot ' +
  'DataForSeoBot Screaming-Frog wget curl HTTrack Teleport WebZIP WebCopier ExampleCrawler OtherBot NoSuchBot ' +
  'TestSpider SampleBot DemoFetcher LinkWalker PageGrabber SiteSucker FeedReader ImageSieve NewsHarvester PriceWatcher'
).split(' ')

/** Words with non-ASCII letters in UTF-8 or Latin-1, with one character for each byte. */
export const foreignWords: readonly string[] = [
  'caf\xc3\xa9',
  'stra\xc3\x9fe',
  'ni\xc3\xb1o',
  '\xe6\x96\xb0\xe9\x97\xbb',
  '\xd0\xbc\xd0\xb8\xd1\x80',
  'latin\xe9',
]
/** Words with percent-encoding, as a client would send them. */
export const encodedWords: readonly string[] = [
  'caf%C3%A9',
  'stra%C3%9Fe',
  'a%20b',
  '%E6%96%B0%E9%97%BB',
  '%7Ejoe',
  'one%2Ctwo',
  '%d0%bc%d0%b8',
]
