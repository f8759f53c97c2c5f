// The crawlers of Google. Google documents the tokens that each of them reads.
import type { OperatorPage } from './known-crawler.ts'

const READ = '2026-11-25'

export const google: readonly OperatorPage[] = [
  {
    operator: 'Google',
    source: 'https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers',
    readOn: READ,
    crawlers: [
      { token: 'Googlebot', purpose: 'search', obeys: 'yes' },
      { token: 'Googlebot-Image', purpose: 'search', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'Googlebot-Video', purpose: 'search', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'Googlebot-News', purpose: 'search', obeys: 'yes', fallbacks: ['Googlebot'], isControl: true },
      { token: 'Storebot-Google', purpose: 'search', obeys: 'yes' },
      { token: 'Google-InspectionTool', purpose: 'monitoring', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'GoogleOther', purpose: 'other', obeys: 'yes' },
      { token: 'GoogleOther-Image', purpose: 'other', obeys: 'yes', fallbacks: ['GoogleOther'] },
      { token: 'GoogleOther-Video', purpose: 'other', obeys: 'yes', fallbacks: ['GoogleOther'] },
      { token: 'Google-CloudVertexBot', purpose: 'ai-search', obeys: 'yes', fallbacks: ['Googlebot'] },
      { token: 'Google-Extended', purpose: 'ai-training', obeys: 'yes', isControl: true },
      {
        token: 'Googlebot-Mobile',
        purpose: 'search',
        retired: { since: undefined, replacedBy: ['Googlebot'] },
      },
    ],
  },
  {
    operator: 'Google',
    source: 'https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers',
    readOn: READ,
    crawlers: [
      { token: 'AdsBot-Google', purpose: 'advertising', obeys: 'yes', readsStar: false },
      { token: 'AdsBot-Google-Mobile', purpose: 'advertising', obeys: 'yes', readsStar: false },
      { token: 'Mediapartners-Google', purpose: 'advertising', obeys: 'yes', readsStar: false },
      { token: 'APIs-Google', purpose: 'other', obeys: 'yes', readsStar: false },
      { token: 'Google-Safety', purpose: 'other', obeys: 'no' },
      {
        token: 'AdsBot-Google-Mobile-Apps',
        purpose: 'advertising',
        retired: { since: undefined, replacedBy: ['AdsBot-Google-Mobile'] },
      },
      { token: 'DuplexWeb-Google', purpose: 'other', retired: { since: undefined, replacedBy: [] } },
    ],
  },
  {
    operator: 'Google',
    source: 'https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers',
    readOn: READ,
    crawlers: [
      { token: 'FeedFetcher-Google', purpose: 'preview', obeys: 'no' },
      { token: 'GoogleMessages', purpose: 'preview', obeys: 'no' },
      { token: 'GoogleProducer', purpose: 'preview', obeys: 'no' },
      { token: 'Google-Read-Aloud', purpose: 'preview', obeys: 'no' },
      { token: 'Google-Site-Verification', purpose: 'monitoring', obeys: 'no' },
      { token: 'Google-CWS', purpose: 'other', obeys: 'no' },
      { token: 'Google-Pinpoint', purpose: 'ai-assistant', obeys: 'no' },
      { token: 'Google-NotebookLM', purpose: 'ai-assistant', obeys: 'no' },
      { token: 'Google-GeminiNotebook', purpose: 'ai-assistant', obeys: 'no' },
      { token: 'Google-Agent', purpose: 'ai-agent', obeys: 'no' },
    ],
  },
]
