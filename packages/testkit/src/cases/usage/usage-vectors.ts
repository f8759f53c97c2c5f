// Test vectors of aipref-signals 0.1.0 (tjcgraham-rgb/gaip-agents, MIT, 2026-09): what a site sends, as
// in its test_vectors.json, and the answers that follow from its results. Its vectors named
// "recorded" are left out: they keep a lenient reader as it was, against the draft.
import type { UsageParts } from './usage-cases.ts'

export interface UsageVector extends UsageParts {
  readonly token?: string
  readonly path?: string
  readonly answers: Readonly<Record<string, 'allowed' | 'disallowed'>>
  readonly licenses?: readonly string[]
  /** What aipref-signals does instead, and why we differ; undefined if both agree. */
  readonly theirs?: string
}

export const usageVectors: readonly UsageVector[] = [
  {
    headers: {
      'content-usage': 'train-ai=n',
    },
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-ai=y, search=n',
    },
    answers: {
      'train-ai': 'allowed',
      search: 'disallowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-ai=n,search=y',
    },
    answers: {
      'train-ai': 'disallowed',
      search: 'allowed',
    },
  },
  {
    headers: {
      'content-usage': 'ai-use=n, search=y, train-ai=y',
    },
    answers: {
      'ai-input': 'disallowed',
      search: 'allowed',
      'train-ai': 'allowed',
    },
  },
  {
    headers: {
      'content-usage': '  train-ai=n  ',
    },
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-ai=n,\tsearch=y',
    },
    answers: {
      'train-ai': 'disallowed',
      search: 'allowed',
    },
  },
  {
    headers: {
      'content-usage': '',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'Train-AI=n',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=N',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=n, foo=y',
    },
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-genai=n',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=n, train-ai=y',
    },
    answers: {
      'train-ai': 'allowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-ai=n;src=x',
    },
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    headers: {
      'content-usage': 'train-ai',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai="n"',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=?0',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=(n y)',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=n,',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=n search=y',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai = n',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=n # no',
    },
    answers: {},
  },
  {
    headers: {
      'content-usage': 'train-ai=no, search=yes',
    },
    answers: {},
  },
  {
    robots: 'User-Agent: *\nContent-Usage: train-ai=n\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Usage: /blog/ train-ai=y\n',
    path: '/blog/x',
    answers: {
      'train-ai': 'allowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Usage: /a\ttrain-ai=n\n',
    path: '/ax',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'user-agent: *\ncontent-usage: train-ai=n\nCONTENT-USAGE: search=y\n',
    answers: {
      'train-ai': 'disallowed',
      search: 'allowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Usage: train-ai=n # no training, thanks\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots:
      'User-agent: GPTBot\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /x\n\nUser-agent: *\nAllow: /\nContent-Usage: search=y\nContent-Usage: /news/ ai-use=n\n',
    token: 'GPTBot',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots:
      'User-agent: GPTBot\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /x\n\nUser-agent: *\nAllow: /\nContent-Usage: search=y\nContent-Usage: /news/ ai-use=n\n',
    token: 'CCBot',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots:
      'User-agent: GPTBot\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /x\n\nUser-agent: *\nAllow: /\nContent-Usage: search=y\nContent-Usage: /news/ ai-use=n\n',
    answers: {
      search: 'allowed',
    },
  },
  {
    robots:
      'User-agent: GPTBot\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /x\n\nUser-agent: *\nAllow: /\nContent-Usage: search=y\nContent-Usage: /news/ ai-use=n\n',
    path: '/news/x',
    answers: {
      'ai-input': 'disallowed',
    },
  },
  {
    robots: 'Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\n',
    answers: {},
  },
  {
    robots: 'User-agent: *\nContent-Usage: Train-AI=n\n',
    answers: {},
  },
  {
    robots: 'User-agent: *\nContent-Usage: /private/\n',
    path: '/private/x',
    answers: {},
  },
  {
    robots: 'User-agent: *\nContent-Usage:\n',
    answers: {},
  },
  {
    robots: 'User-agent: *\r\nContent-Usage: train-ai=n\r\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Usage: train-ai=n, bots=n\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nDisallow: /admin\n',
    answers: {},
  },
  {
    robots: 'garbage line\nUser-agent: *\n\n   \nContent-Usage: train-ai=n\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-Agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n',
    answers: {
      search: 'allowed',
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'user-agent: *\ncontent-signal: Search=Yes, AI-Train=NO\n',
    answers: {
      search: 'allowed',
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Signal: search=maybe, foo=no, ai-input=no\n',
    answers: {
      'ai-input': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Signal: ai-train=no # see policy\n',
    answers: {
      'train-ai': 'disallowed',
    },
  },
  {
    robots: 'User-agent: *\nContent-Signal: garbage\n',
    answers: {},
  },
  {
    robots: 'License: https://example.com/license.xml\n',
    answers: {},
    licenses: ['https://example.com/license.xml'],
  },
  {
    robots: 'license: /rsl.xml\n',
    answers: {},
    licenses: [],
    theirs: 'resolves it; RSL 1.0 §4.4 asks for an absolute URL',
  },
  {
    robots: 'License: http://example.com/l.xml\n',
    answers: {},
    licenses: ['http://example.com/l.xml'],
    theirs: 'takes only https',
  },
  {
    robots: 'License: https://user@example.com/l.xml\n',
    answers: {},
    licenses: ['https://user@example.com/l.xml'],
    theirs: 'ignores a URL with credentials',
  },
  {
    robots: 'LICENSE: https://a.example/l.xml # rsl\nLicense: https://a.example/l.xml\n',
    answers: {},
    licenses: ['https://a.example/l.xml'],
  },
  {
    robots: 'User-agent: *\nAllow: /\nLicense: https://example.com/license.xml\n',
    answers: {},
    licenses: ['https://example.com/license.xml'],
  },
  {
    headers: {
      link: '<https://example.com/license.xml>; rel="license"; type="application/rsl+xml"',
    },
    answers: {},
    licenses: ['https://example.com/license.xml'],
  },
  {
    headers: {
      link: '</l.xml>; rel=license; type=application/rsl+xml',
    },
    answers: {},
    licenses: ['https://site.example/l.xml'],
  },
  {
    headers: {
      link: '<https://example.com/cc>; rel="license"',
    },
    answers: {},
    licenses: [],
  },
  {
    headers: {
      link: '<https://example.com/x>; rel="next", <https://example.com/rsl.xml>; rel="license"; type="application/rsl+xml"',
    },
    answers: {},
    licenses: ['https://example.com/rsl.xml'],
  },
  {
    html: '<html><head><link rel="license" type="application/rsl+xml" href="license.xml"></head></html>',
    path: '/docs/',
    answers: {},
    licenses: ['https://site.example/docs/license.xml'],
  },
  {
    html: "<link rel='alternate license' type='application/rsl+xml' href='https://example.com/l.xml'>",
    path: '/',
    answers: {},
    licenses: ['https://example.com/l.xml'],
  },
  {
    html: "<link rel='license' href='https://creativecommons.org/licenses/by/4.0/'>",
    path: '/',
    answers: {},
    licenses: [],
  },
  {
    tdmrep: '[{"location": "/", "tdm-reservation": 1, "tdm-policy": "https://example.com/policy.json"}]',
    path: '/',
    answers: {
      'text-and-data-mining': 'disallowed',
    },
  },
  {
    tdmrep: '[{"location": "/images/*", "tdm-reservation": 1}, {"location": "/blog", "tdm-reservation": 0}]',
    path: '/',
    answers: {},
  },
  {
    tdmrep: '[{"location": "/*", "tdm-reservation": "1"}]',
    path: '/',
    answers: {
      'text-and-data-mining': 'disallowed',
    },
  },
  {
    tdmrep: '{"location": "/"}',
    path: '/',
    answers: {},
  },
  {
    tdmrep: 'not json',
    path: '/',
    answers: {},
  },
  {
    tdmrep: '[]',
    path: '/',
    answers: {},
  },
  {
    headers: {
      'Content-Usage': 'train-ai=n',
      'TDM-Reservation': '1',
      'TDM-Policy': 'https://example.com/p.json',
    },
    answers: {
      'train-ai': 'disallowed',
      'text-and-data-mining': 'disallowed',
    },
  },
  {
    headers: {
      link: '</license.xml>; rel="license"; type="application/rsl+xml"',
    },
    answers: {},
    licenses: ['https://site.example/license.xml'],
  },
  {
    headers: {
      'content-usage': 'TRAIN-AI=N',
    },
    answers: {},
  },
  {
    headers: {
      'content-type': 'text/html',
    },
    answers: {},
  },
]
