// URLs, each with the one answer that core, client, gate and command give to it. RFC 9309 §2.3 and
// the WHATWG URL standard. docs/reference/errors.md has the rule.
export interface UrlCase {
  readonly url: string
  /** The `problem` of the verdict `invalid-url`; `none` for a valid URL. */
  readonly problem: 'empty' | 'relative' | 'malformed' | 'scheme' | 'too-long' | 'none'
  /** Core and `politely match` also accept a path. All other packages need a whole URL. */
  readonly isPath?: true
  /** Without an origin, core and `politely match` ignore an invalid host, and match the path. */
  readonly hasInvalidHost?: true
}

/** Strings that a page may contain as a link. */
export const urlCases: readonly UrlCase[] = [
  { url: 'https://example.com/page', problem: 'none' },
  { url: 'HTTPS://EXAMPLE.com/page', problem: 'none' },
  { url: ' https://example.com/page\n', problem: 'none' },
  { url: 'https://example.com:65535/page', problem: 'none' },
  { url: 'https://example.com./page', problem: 'none' },
  { url: 'https://b\u00fccher.example/page', problem: 'none' },
  { url: 'https://xn--bcher-kva.example/page', problem: 'none' },
  { url: 'http://192.0.2.1/page', problem: 'none' },
  { url: 'http://0x7f.1/page', problem: 'none' },
  { url: 'http://[2001:db8::1]/page', problem: 'none' },
  { url: 'http:///example.com/page', problem: 'none' }, // a client ignores the third slash
  { url: 'http:\\\\example.com\\page', problem: 'none' },
  { url: 'https://example.com/\ud800', problem: 'none' },
  { url: 'https://example.com/%', problem: 'none' },
  { url: 'ftp://example.com/page', problem: 'none' },

  { url: '', problem: 'empty' },
  { url: ' \t', problem: 'empty' },

  { url: '/page', problem: 'relative', isPath: true },
  { url: '/page?next=http://[::1/', problem: 'relative', isPath: true },
  { url: 'example.com/page', problem: 'relative' },
  { url: 'localhost:8080/page', problem: 'relative' },
  { url: '//example.com/page', problem: 'relative' },
  { url: '/\\example.com/page', problem: 'relative' },
  { url: '?q', problem: 'relative' },

  { url: 'http://', problem: 'malformed' },
  { url: 'http://[::1/page', problem: 'malformed' },
  { url: 'http://user:1@[::1/page', problem: 'malformed' },
  { url: 'http://[::1]:port/page', problem: 'malformed' },
  { url: 'http://::1/page', problem: 'malformed' },
  { url: 'http://[::1]x/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://host:port/', problem: 'malformed' },
  { url: 'http://host:80:80/', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://host:99999/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://:80/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://user@/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://a b/', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://a%20b/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://%/', problem: 'malformed', hasInvalidHost: true },
  { url: 'https://exa%00mple/', problem: 'malformed', hasInvalidHost: true },
  { url: 'https://exa\ud800mple/', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://256.1.1.1/', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://1.2.3.4.5/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://example.0x/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'http://xn--i\u00f1valid/page', problem: 'malformed', hasInvalidHost: true },
  { url: 'https://example.com|/', problem: 'malformed', hasInvalidHost: true },
  { url: 'ftp://host:port/', problem: 'malformed' },

  { url: 'mailto:me@example.com', problem: 'scheme' },
  { url: 'javascript:void(0)', problem: 'scheme' },
  { url: 'tel:112', problem: 'scheme' },
  { url: 'file:///etc/passwd', problem: 'scheme' },
  { url: 'ws://example.com/', problem: 'scheme' },
  { url: 'gopher://example.com/', problem: 'scheme' },

  { url: `https://example.com/${'a'.repeat(65_536)}`, problem: 'too-long' },
]

export const invalidUrlCases: readonly UrlCase[] = urlCases.filter(({ problem }) => problem !== 'none')

/** Returns the name of a test for a case. A long URL is cut. */
export function urlCaseName({ url, problem }: UrlCase): string {
  return `${JSON.stringify(url).slice(0, 60)}: ${problem}`
}

/** Values that are neither a string nor an object with `href`. They are mistakes of the caller. */
export const notUrls: readonly (readonly [name: string, value: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 42],
  ['an object', {}],
  ['a list', ['https://example.com/page']],
  ['a Request', new Request('https://example.com/page')],
  ['an object whose href is a number', { href: 5 }],
]
