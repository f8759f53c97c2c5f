// The crawlers of SEO tools, archives, social networks, monitoring and advertising.
import type { OperatorPage } from './known-crawler.ts'

const READ = '2026-11-25'

export const otherCrawlers: readonly OperatorPage[] = [
  // SEO tools.
  {
    operator: 'Ahrefs',
    source: 'https://help.ahrefs.com/en/articles/78158-how-do-i-control-your-bot-s-crawling-behaviour',
    readOn: READ,
    crawlers: [
      { token: 'AhrefsBot', purpose: 'seo', obeys: 'yes' },
      { token: 'AhrefsSiteAudit', purpose: 'seo' },
    ],
  },
  {
    operator: 'Semrush',
    source: 'https://www.semrush.com/bot/',
    readOn: READ,
    crawlers: [
      { token: 'SemrushBot', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-SWA', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-OCOB', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-BA', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-SI', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-FT', purpose: 'seo', obeys: 'yes' },
      { token: 'SiteAuditBot', purpose: 'seo', obeys: 'yes' },
      { token: 'SplitSignalBot', purpose: 'seo', obeys: 'yes' },
      { token: 'SemrushBot-SA', purpose: 'seo', retired: { since: undefined, replacedBy: ['SiteAuditBot'] } },
    ],
  },
  {
    operator: 'Moz',
    source: 'https://moz.com/help/moz-procedures/crawlers/rogerbot',
    readOn: READ,
    crawlers: [
      { token: 'rogerbot', purpose: 'seo', obeys: 'yes' },
      { token: 'dotbot', purpose: 'seo' },
    ],
  },
  {
    operator: 'Majestic',
    source: 'https://mj12bot.com/',
    readOn: READ,
    crawlers: [{ token: 'MJ12bot', purpose: 'seo', obeys: 'yes' }],
  },
  {
    operator: 'the users of Screaming Frog',
    source: 'https://www.screamingfrog.co.uk/guides/robots-txt/',
    readOn: READ,
    crawlers: [
      {
        token: 'Screaming',
        name: 'Screaming Frog SEO Spider',
        purpose: 'seo',
        obeys: 'yes',
        fallbacks: ['Googlebot'],
      },
    ],
  },
  {
    operator: 'Serpstat',
    source: 'https://serpstatbot.com/',
    readOn: READ,
    crawlers: [{ token: 'serpstatbot', purpose: 'seo', obeys: 'yes' }],
  },
  {
    operator: 'SE Ranking',
    source: 'https://help.seranking.com/hc/en-us/articles/17126130916636-BLEXBot-Crawler',
    readOn: READ,
    crawlers: [{ token: 'BLEXBot', purpose: 'seo', obeys: 'yes' }],
  },
  {
    operator: 'DataForSEO',
    source: 'https://dataforseo.com/dataforseo-bot',
    crawlers: [{ token: 'DataForSeoBot', purpose: 'seo' }],
  },
  {
    operator: 'Babbar',
    source: 'https://babbar.tech/crawler',
    readOn: READ,
    crawlers: [{ token: 'Barkrowler', purpose: 'seo', obeys: 'yes' }],
  },
  {
    operator: 'SEOkicks',
    source: 'https://www.seokicks.de/robot.html',
    crawlers: [{ token: 'SEOkicks', purpose: 'seo' }],
  },
  {
    operator: 'SISTRIX',
    source: 'https://www.sistrix.com/tutorials/crawling-errors-in-the-optimizer/',
    crawlers: [{ token: 'SISTRIX', name: 'SISTRIX Crawler', purpose: 'seo' }],
  },
  { operator: 'XOVI', source: 'https://www.xovi.com/', crawlers: [{ token: 'XoviBot', purpose: 'seo' }] },
  {
    operator: 'MegaIndex',
    source: 'https://www.megaindex.com/crawler',
    crawlers: [{ token: 'MegaIndex', name: 'MegaIndex.ru', purpose: 'seo' }],
  },
  { operator: 'Sitebulb', source: 'https://sitebulb.com/', crawlers: [{ token: 'Sitebulb', purpose: 'seo' }] },

  // Archives.
  {
    operator: 'Internet Archive',
    source: 'https://archive.org/details/archive.org_bot',
    crawlers: [{ token: 'archive', name: 'archive.org_bot', purpose: 'archive' }],
  },
  {
    operator: 'Alexa Internet',
    source: 'https://www.alexa.com/',
    crawlers: [{ token: 'ia_archiver', purpose: 'archive', retired: { since: '2022', replacedBy: [] } }],
  },
  {
    operator: 'the users of Heritrix',
    source: 'https://github.com/internetarchive/heritrix3/wiki',
    crawlers: [{ token: 'heritrix', purpose: 'archive' }],
  },
  {
    operator: 'Arquivo.pt',
    source: 'https://sobre.arquivo.pt/en/help/crawling-and-archiving-web-content/',
    crawlers: [{ token: 'Arquivo-web-crawler', purpose: 'archive' }],
  },

  // Social networks and messengers.
  {
    operator: 'X',
    source: 'https://docs.x.com/x-for-websites/cards/guides/getting-started',
    readOn: READ,
    crawlers: [{ token: 'Twitterbot', purpose: 'preview', obeys: 'yes' }],
  },
  {
    operator: 'Slack',
    source: 'https://docs.slack.dev/robots',
    readOn: READ,
    crawlers: [
      { token: 'Slackbot', purpose: 'preview' },
      { token: 'Slackbot-LinkExpanding', purpose: 'preview', obeys: 'no' },
      { token: 'Slack-ImgProxy', purpose: 'preview' },
    ],
  },
  {
    operator: 'LinkedIn',
    source: 'https://www.linkedin.com/robots.txt',
    crawlers: [{ token: 'LinkedInBot', purpose: 'preview' }],
  },
  {
    operator: 'Pinterest',
    source: 'https://help.pinterest.com/en/business/article/pinterest-crawler',
    readOn: READ,
    crawlers: [
      { token: 'Pinterestbot', purpose: 'preview', obeys: 'yes' },
      { token: 'Pinterest', purpose: 'preview', obeys: 'yes' },
    ],
  },
  { operator: 'Discord', source: 'https://discord.com/', crawlers: [{ token: 'Discordbot', purpose: 'preview' }] },
  { operator: 'Telegram', source: 'https://telegram.org/', crawlers: [{ token: 'TelegramBot', purpose: 'preview' }] },
  { operator: 'WhatsApp', source: 'https://www.whatsapp.com/', crawlers: [{ token: 'WhatsApp', purpose: 'preview' }] },
  {
    operator: 'Microsoft',
    source: 'https://www.skype.com/',
    crawlers: [{ token: 'SkypeUriPreview', purpose: 'preview' }],
  },
  { operator: 'Embedly', source: 'https://embed.ly/', crawlers: [{ token: 'Embedly', purpose: 'preview' }] },
  {
    operator: 'Flipboard',
    source: 'https://about.flipboard.com/browserproxy/',
    crawlers: [{ token: 'FlipboardProxy', purpose: 'preview' }],
  },
  { operator: 'Bitly', source: 'https://bitly.com/', crawlers: [{ token: 'bitlybot', purpose: 'preview' }] },

  // Monitoring.
  {
    operator: 'UptimeRobot',
    source: 'https://uptimerobot.com/',
    crawlers: [{ token: 'UptimeRobot', purpose: 'monitoring' }],
  },
  {
    operator: 'Better Stack',
    source: 'https://betterstack.com/',
    crawlers: [{ token: 'BetterUptimeBot', purpose: 'monitoring' }],
  },
  {
    operator: 'Pingdom',
    source: 'https://www.pingdom.com/',
    crawlers: [{ token: 'Pingdom', name: 'Pingdom.com_bot', purpose: 'monitoring' }],
  },
  {
    operator: 'StatusCake',
    source: 'https://www.statuscake.com/',
    crawlers: [{ token: 'StatusCake', purpose: 'monitoring' }],
  },
  {
    operator: 'Site24x7',
    source: 'https://www.site24x7.com/',
    crawlers: [{ token: 'Site24x7', purpose: 'monitoring' }],
  },
  {
    operator: 'Datadog',
    source: 'https://docs.datadoghq.com/synthetics/',
    crawlers: [{ token: 'DatadogSynthetics', purpose: 'monitoring' }],
  },
  {
    operator: 'Sentry',
    source: 'https://docs.sentry.io/product/alerts/uptime-monitoring/troubleshooting/',
    crawlers: [{ token: 'SentryUptimeBot', purpose: 'monitoring' }],
  },
  { operator: 'GTmetrix', source: 'https://gtmetrix.com/', crawlers: [{ token: 'GTmetrix', purpose: 'monitoring' }] },

  // Advertising, and checks of texts.
  {
    operator: 'Criteo',
    source: 'https://www.criteo.com/criteo-crawler/',
    crawlers: [{ token: 'CriteoBot', purpose: 'advertising' }],
  },
  {
    operator: 'Comscore',
    source: 'https://www.comscore.com/Web-Crawler',
    crawlers: [{ token: 'proximic', purpose: 'advertising' }],
  },
  {
    operator: 'Oracle',
    source: 'https://www.oracle.com/corporate/acquisitions/grapeshot/crawler.html',
    crawlers: [{ token: 'GrapeshotCrawler', purpose: 'advertising' }],
  },
  {
    operator: 'Peer39',
    source: 'https://www.peer39.com/',
    crawlers: [{ token: 'peer39_crawler', purpose: 'advertising' }],
  },
  {
    operator: 'Turnitin',
    source: 'https://www.turnitin.com/robot/crawlerinfo.html',
    crawlers: [{ token: 'TurnitinBot', purpose: 'other' }],
  },
]
