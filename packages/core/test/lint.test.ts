import { goodFiles, lintCases } from '@politely/testkit/cases/lint-cases'
import { expectPage, expectTables, readPage } from '@politely/testkit/doc-page'
import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { parseDictionary } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { knownCrawlers } from '../src/crawlers/index.ts'
import { type DialectName, type FindingCode, findingKinds, lintRobots, parseRobots } from '../src/index.ts'

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
const codes = Object.keys(findingKinds) as FindingCode[]

describe('lintRobots', () => {
  it.each(lintCases)('reports all findings in $name', ({ robots, findings, dialect }) => {
    const found = lintRobots(bytes(robots), { dialect })
    expect(found.map(({ code, line }) => `${code} ${line}`)).toEqual(findings)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
    for (const { message } of found) expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
  })

  it.each(codes)('has a test case for %s, and one sentence that says what to write', (code) => {
    const isTested = lintCases.some(({ findings }) => findings.some((one) => one.startsWith(`${code} `)))
    expect(isTested, 'add a row to packages/testkit/src/cases/lint-cases.ts').toBe(true)
    const { message } = findingKinds[code]
    expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
    expect(message).toMatch(/; .*\b(write|save|serve|put|remove)\b/)
  })

  it.each(goodFiles)('reports only notes for a correct file: $name', ({ robots }) => {
    expect(lintRobots(bytes(robots)).filter(({ severity }) => severity !== 'note')).toEqual([])
  })

  it.each<[string, string]>([
    ['Disallow /a', 'Disallow: /a'],
    ['Disallow /a b', 'Disallow: /a b'],
    ['user agent * all', 'User-agent: * all'],
    ['Sitemap https://example.com/a:b', 'Sitemap: https://example.com/a:b'],
    ['https://example.com/a', 'Sitemap: https://example.com/a'],
    ['crawldelay: 1', 'Crawl-delay:'],
    ['Licence: x', 'License:'],
    ['Disallow: caf\u00e9', 'Disallow: /caf\u00e9'],
    ['Disallow: https://example.com/a?b*', 'Disallow: /a?b*'],
    ['Disallow: *', 'Disallow: /'],
    ['Disallow: *a', 'Disallow: /*a'],
    ['Disallow: */a', 'Disallow: /a" and "Disallow: /*/a'],
    ['Disallow: /a b', 'Disallow: /a%20b'],
    ['Disallow: /a/./b/../c', 'Disallow: /a/c'],
    ['Disallow: /caf\u00e9/%7E', 'Disallow: /caf%C3%A9/~'],
    ['Allow: /a/index.html', 'Allow: /a/i*ndex.html'],
    ['Disallow: news', 'Disallow: /news'],
    ['Disallow: /a/../b$', 'Disallow: /b$'],
    ['Disallow: /a/../caf\u00e9', 'Disallow: /caf%C3%A9'],
    ['Disallow: /a\\b?c\\e', 'Disallow: /a/b?c\\e'],
    ['Disallow: "/b"', 'Disallow: /b'],
    ['Disallow: \u201cb/\u201d', 'Disallow: /b/'],
    ['Disallow: &quot;/b&quot;', 'Disallow: /b'],
    ['Disallow: \\b\\', 'Disallow: /b/'],
    ['Disallow: : /b', 'Disallow: /b'],
    ['Disallow: www.shop.example:80/b*', 'Disallow: /b*'],
    ['Disallow: "https://www.shop.example/b"', 'Disallow: /b'],
    ['Disallow: //shop.example/b', 'Disallow: /b'],
    ['Disallow: /shop.example/b', 'Disallow: /b'],
    ['Disallow: /%22/b%22', 'Disallow: /b'],
    ['Disallow: /"b"/', 'Disallow: /b/'],
    ['Disallow: /%22b%22/*$', 'Disallow: /b/*$'],
    ['Disallow: /b?c&amp;d', 'Disallow: /b?c&d'],
    ['Disallow: /a&nbsp;b', 'Disallow: /a%20b'],
    ['Disallow: index.php/a', 'Disallow: /index.php/a'],
    ['Dissallow /a: b', 'Disallow: /a: b'],
    ['Sitemap: /a.xml', 'Sitemap: https://example.com/a.xml'],
    ['Sitemap: //example.net/a.xml', 'Sitemap: https://example.net/a.xml'],
    ['Sitemap: www.shop.example/a.xml', 'Sitemap: https://www.shop.example/a.xml'],
    ['Sitemap: shop.example:8080/a.xml', 'Sitemap: https://shop.example:8080/a.xml'],
    ['Sitemap: http//shop.example/a.xml', 'Sitemap: http://shop.example/a.xml'],
    ['Sitemap: map.xml/a', 'Sitemap: https://example.com/map.xml/a'],
    ['Sitemap: http://localhost:3000/a?b', 'Sitemap: https://example.com/a?b'],
    ['Disallow: /a\\nAllow: /b', 'Disallow: /a" and "Allow: /b'],
    ['Disallow\uff1a/a', 'Disallow: /a'],
    ['User\u2013agent: a', 'User-agent: a'],
    ['User-agent: G\u043e\u043eglebot', 'User-agent: Googlebot'],
    ['Sitemap:\u00a0https://example.com/a', 'Sitemap: https://example.com/a'],
    ['<p>Disallow: /a</p>', 'Disallow: /a'],
    ['Disallow: /?a=b&amp;c=d', 'Disallow: /?a=b&c=d'],
    ['Disallow: /a /b', 'Disallow: /a" and "Disallow: /b'],
    ['Disallow: /a, /b;/c', 'Disallow: /a", "Disallow: /b" and "Disallow: /c'],
    ['Disallow: /a/ /*.pdf$', 'Disallow: /a/" and "Disallow: /*.pdf$'],
    ['Disallow: /a, /*.pdf', 'Disallow: /a" and "Disallow: /*.pdf'],
    ['Disallow: /a //b', 'Disallow: /a" and "Disallow: //b'],
    ['Disallow: /a ; /b', 'Disallow: /a" and "Disallow: /b'],
    ['Disallow: /a - b/', 'Disallow: /a%20-%20b/'],
    ['Disallow: /https://example.com/a', 'Disallow: /a'],
    ['Disallow: ^/a', 'Disallow: /a'],
    ['Disallow: /.*\\.pdf$', 'Disallow: /*.pdf$'],
    ['Disallow: /(a|b)/', 'Disallow: /a/" and "Disallow: /b/'],
    ['Disallow: /a/[0-9]+/b', 'Disallow: /a/*/b'],
    ['Disallow: /a(?:\\d{2,3})$', 'Disallow: /a*$'],
    ['Content-Usage: Train-AI=n, Search=y', 'Content-Usage: train-ai=n, search=y'],
    ['Content-Usage: /b/ train-ai=n,', 'Content-Usage: /b/ train-ai=n'],
    ['Content-Usage: train-ai = n; search=y', 'Content-Usage: train-ai=n, search=y'],
    ['Content-Usage: train-ai="n"', 'Content-Usage: train-ai=n'],
    ['Content-Usage: train-ai=No', 'Content-Usage: train-ai=n'],
    ['Content-Usage: ai-train=no, ai-input=yes', 'Content-Usage: train-ai=n, ai-use=y'],
    ['Content-Usage: *.pdf train-ai=n', 'Content-Usage: /*.pdf train-ai=n'],
    ['Content-Usage: https://example.com/b train-ai=n', 'Content-Usage: /b train-ai=n'],
    ['Content-Usage: genai=n, search=y', 'Content-Usage: train-ai=n, search=y'],
    ['Content-Signal: /b/ train-ai=n, ai-use=y', 'Content-Signal: /b/ ai-train=no, ai-input=yes'],
    ['Content-Signal: Search = Yes ai-train=no', 'Content-Signal: search=yes, ai-train=no'],
    ['Content-Usage caf\u00e9=n', 'Content-Usage: caf\u00e9=n'],
  ])('for %s, says to write %s', (line, better) => {
    const messages = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`).map(({ message }) => message)
    expect(messages.join('\n')).toContain(`"${better}"`)
  })

  it.each([
    'Content-Usage: train-ai',
    'Content-Usage: train-ai=maybe',
    'Content-Usage: bots=n',
    'Content-Usage: train-ai=n; reason=x, search=no',
    'Content-Usage: foo=y',
    'Content-Signal: use=training',
    'Content-Signal: tdm=no',
    'Content-Signal: use=full, ai-train',
  ])('for %s, says nothing to write, because its author may have meant several things', (line) => {
    const findings = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`)
    expect(findings.map(({ write }) => write)).toEqual([undefined])
    expect(findings[0]?.message).toMatch(/^[^{}]*[^,]\.$/)
  })

  it.each<[string, string | undefined]>([
    ['https://shop.co.uk/a', 'Disallow: /a'],
    ['https://cdn.shop.example/a', undefined],
    ['cdn.shop.example/a', undefined],
  ])('without a sitemap, writes for %s: %s', (path, better) => {
    const [finding] = lintRobots(`User-agent: *\nDisallow: ${path}\n`)
    expect([finding?.code, finding?.write?.[0]]).toEqual(['absolute-url-in-rule', better])
  })

  it.each([
    'Disallow: .js',
    'Disallow: ?print',
    'Disallow: a=b',
    'Disallow: "/a", "/b"',
    'Disallow: all of a',
    'Disallow: ../a',
    'Disallow: \\\\host\\a',
    'Disallow: C:\\a',
    'Disallow: javascript:void(0)',
    'Disallow: - /a',
    'Disallow: /a // b',
    'Disallow: /a, /b // c',
    'Disallow: /a /* b */',
    'Disallow: /a ; b',
    'Disallow: /a - b',
    'Disallow: /a <!-- b -->',
    'Disallow: /a<!--b-->',
    'Disallow: /"a"/"b"',
    'Disallow: %2Fa',
    'Disallow: other.net/a',
    'Disallow: other.xyz/',
    'Disallow: other.online',
    'Disallow: a.local:80/b',
    'Disallow: localhost/a',
    'Disallow: a@other.example',
    'Disallow: https://cdn.example/a',
    'Disallow: /cdn.example/a',
    'Disallow: https://www.other.example/a',
  ])('for %s, says nothing to write, because the path is not certain', (line) => {
    const findings = lintRobots(`Sitemap: https://www.shop.example/map.xml\nUser-agent: *\n${line}\nDisallow: /zz\n`)
    expect(findings.map(({ line, write }) => [line, write])).toEqual([[3, undefined]])
  })

  it.each(['example.net/a', 'www.example.net:80/a', '/example.net/a', '//www.example.net/a'])(
    'finds the host of the site in %s',
    (path) => {
      const findings = lintRobots(`Sitemap: https://example.net/map.xml\nUser-agent: *\nDisallow: ${path}\n`)
      expect(findings.map(({ write }) => write)).toEqual([['Disallow: /a']])
    },
  )

  it.each(['/socket.io/a', '/fr.ca/shop/', '/about.us/team', '/1.2.3.4/docs', '/asp.net/a'])(
    'takes no host for a part of %s',
    (path) => expect(lintRobots(`User-agent: *\nDisallow: ${path}\n`)).toEqual([]),
  )

  it.each([
    'Disallow: none',
    'Disallow: All',
    'Disallow: https://example.com/',
    'Disallow: /../',
    'Disallow: / /a',
    'Disallow: "/"',
    'Disallow: www.example.com',
    'Allow: $',
  ])('for %s, writes no rule, because it might close or open the whole site', (line) => {
    const findings = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`)
    expect(findings.length).toBeGreaterThan(0)
    const written = findings.flatMap(({ write = [] }) => write)
    expect(written.filter((rule) => /^(?:Dis)?allow: \/(?:\*|all|none)?$/i.test(rule))).toEqual([])
  })

  it('says of which drafts an expired label is, and what a field defines', () => {
    const messages = ['bots=n', 'trainai=n'].map(
      (list) => lintRobots(`User-agent: *\nContent-Usage: ${list}\n`)[0]?.message,
    )
    expect(messages).toEqual([
      'Crawlers may ignore a label of an older AIPREF draft, here "bots=n" (vocab-03, vocab-04; the newest is vocab-08); write one of the newest draft.',
      'Crawlers ignore a label that its field does not define, here "trainai=n" (defined: train-ai, ai-use, search); write a defined one.',
    ])
  })

  it('takes a Content-Usage line for readable if RFC 9651 can parse it, and only then', () => {
    let readable = 0
    for (const value of randomPreferences(DICTIONARY_PARTS, sampled(6_000))) {
      const codes = lintLine(`Content-Usage: ${value}`).map(({ code }) => code)
      expect(codes.includes('unreadable-content-usage'), value).toBe(!isDictionary(value))
      if (isDictionary(value)) readable++
    }
    expect(readable).toBeGreaterThan(sampled(150))
  })

  it.each(['Content-Usage', 'Content-Signal'])('says to write %s lines that crawlers can read', (field) => {
    let written = 0
    for (const value of randomPreferences(PREFERENCE_PARTS, sampled(3_000))) {
      for (const { write = [] } of lintLine(`${field}: ${value}`)) {
        written += write.length
        const errors = write.flatMap(lintLine).filter(({ severity }) => severity === 'error')
        expect(errors, value).toEqual([])
      }
    }
    expect(written).toBeGreaterThan(sampled(100))
  })

  it('names no path for a regular expression that matches nearly everything', () => {
    for (const path of ['/[0-9]+', '/(.|\\n){0,256}$', '/((a|b)|c)']) {
      const [finding] = lintRobots(`User-agent: *\nDisallow: ${path}\n`)
      expect(finding?.code).toBe('regular-expression-in-path')
      expect(finding?.message).toMatch(/; write \* for any characters\.$/)
      expect(finding).not.toHaveProperty('write')
    }
  })

  it('says which rules of * a named group lacks, and where they are', () => {
    const rules = ['/a', '/b', '/c', '/d', '/e'].map((path) => `Disallow: ${path}`)
    const found = lintRobots(['User-agent: *', ...rules, 'User-agent: a', 'Disallow: /x', ''].join('\n'))
    expect(found).toEqual([
      {
        code: 'named-group-lacks-rules',
        severity: 'note',
        line: 7,
        message:
          'A named group replaces the group for *, so these crawlers may fetch what line 2 (and 4 more) disallows; write "Disallow: /a", "Disallow: /b" and 3 more here too if they should not.',
        write: rules,
      },
    ])
  })

  it('compares no group of a policy token with *, unless the group names a crawler too', () => {
    const shared = 'User-agent: *\nContent-Signal: ai-train=no\nDisallow: /a\n\nUser-agent: Example-Training\n'
    const codes = (rest: string, token: string) =>
      lintRobots(`${shared}${rest}`, { policyTokens: [{ token }] }).map(({ code }) => code)
    const both = ['named-group-lacks-rules', 'named-group-lacks-preferences']
    expect(codes('Disallow: /x\n', 'other')).toEqual(both)
    expect(codes('Disallow: /x\n', 'EXAMPLE-training')).toEqual([])
    expect(codes('User-agent: ExampleBot\nDisallow: /x\n', 'example-training')).toEqual(both)
  })

  it('says which preferences of * a named group lacks, as the file writes them', () => {
    const robots = 'User-agent: *\nContent-Signal: ai-train=no\nAllow: /\nDisallow: /a\n\nUser-agent: a\nAllow: /\n'
    expect(lintRobots(robots).find(({ line }) => line === 6)?.message).toBe(
      'A named group replaces the group for *, so the preference in line 2 does not apply to these crawlers; write "Content-Signal: ai-train=no" here too if it should.',
    )
  })

  it('says that a named group lacks rules only if its crawler may fetch what others may not', () => {
    let lacking = 0
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const robots = `User-agent: *\nDisallow: /zz\n\n${randomRobots(seededRandom(seed))}`
      const source = bytes(robots)
      for (const { code, line, write = [] } of lintRobots(source)) {
        if (code !== 'named-group-lacks-rules') continue
        const [, name = ''] =
          /^\W*user\W?agent\s*:\s*([a-z_-]+)/i.exec(robots.split(/\r\n|\r|\n/)[line - 1] ?? '') ?? []
        if (!write.includes('Disallow: /zz') || name === '') continue
        lacking++
        const rules = parseRobots(source).forCrawler(name)
        expect(
          ['/zz', '/zzq', '/zz/q.q?q'].some((url) => rules.isAllowed(url)),
          `${name} in ${robots}`,
        ).toBe(true)
      }
    }
    expect(lacking).toBeGreaterThan(sampled(100))
  })

  it('does not report that a group lacks rules of * if its crawler never reads the group for *', () => {
    for (const { token, readsStar, retired } of knownCrawlers) {
      if (retired !== undefined) continue
      const found = lintRobots(`User-agent: *\nDisallow: /a\n\nUser-agent: ${token}\nDisallow: /b\n`)
      const reported = found.some(({ code }) => code === 'named-group-lacks-rules')
      expect(reported, token).toBe(readsStar !== false)
    }
  })

  it('names a known crawler instead of a part of its name, and no part that is a name', () => {
    const names = new Set(knownCrawlers.map(({ token }) => token.toLowerCase()))
    const parts = knownCrawlers.flatMap(({ token }) => [
      token,
      token.replace(/^[^-]*-/, ''),
      token.replace(/-[^-]*$/, ''),
    ])
    let found = 0
    for (const part of new Set(parts)) {
      const [finding] = lintRobots(`User-agent: ${part}\nDisallow: /a\n`).filter(
        ({ code }) => code === 'product-token-without-vendor',
      )
      if (finding === undefined) continue
      found++
      expect(names.has(part.toLowerCase()), part).toBe(false)
      expect(names.has(finding.write?.[0]?.toLowerCase() ?? ''), part).toBe(true)
    }
    expect(found).toBeGreaterThan(10)
  })

  it('says that search engines lack style sheets only of known search engines', () => {
    const found = knownCrawlers.filter(({ token }) =>
      lintRobots(`User-agent: ${token}\nDisallow: /*.css$\n`).some(({ code }) => code === 'closes-page-resources'),
    )
    expect(found.filter(({ purpose, retired }) => purpose !== 'search' || retired !== undefined)).toEqual([])
    expect(found.length).toBeGreaterThan(3)
  })

  it.each<[string, DialectName, string | undefined]>([
    [
      'Crawl-delay: 1',
      'google',
      'This field is known, but Google ignores it (Bing reads it); write it only for crawlers that read it.',
    ],
    [
      'Clean-param: a',
      'google',
      'This field is known, but Google ignores it (Yandex reads it); write it only for crawlers that read it.',
    ],
    [
      'License: https://example.com/a',
      'google',
      'This field is known, but Google ignores it (no known crawler reads it); write it only for crawlers that read it.',
    ],
    [
      'Agentmap: /a',
      'rfc9309',
      'This field is known, but no known crawler reads it; write it only for crawlers that read it.',
    ],
    [
      'Allow: /a',
      'original-1994',
      'This field is known, but the dialect original-1994 has no Allow; write it only for crawlers that read it.',
    ],
    ['Crawl-delay: 1', 'rfc9309', undefined],
    ['Sitemap: https://example.com/a', 'google', undefined],
    ['Allow: /a', 'koster-1996', undefined],
  ])('reports whether crawlers ignore %s in dialect %s', (line, dialect, message) => {
    const found = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`, { dialect })
    expect(found.map((one) => one.message)).toEqual(message === undefined ? [] : [message])
  })

  it('does not say that Google ignores a field that is not for its crawlers', () => {
    const robots = ['bingbot', 'Googlebot', '*'].map((name) => `User-agent: ${name}\nCrawl-delay: 1\nDisallow: /a\n`)
    const found = lintRobots(robots.join('\n'), { dialect: 'google' })
    expect(found.map(({ code, line }) => `${code} ${line}`)).toEqual(['ignored-field 6', 'ignored-field 10'])
  })

  it('writes URLs of the site if it knows the origin', () => {
    const robots = 'Sitemap: /a.xml\nSitemap: http://localhost/b.xml\nLicense: c.xml\n'
    const found = lintRobots(robots, { origin: 'https://shop.example/robots.txt' })
    expect(found.flatMap(({ write }) => write ?? [])).toEqual([
      'Sitemap: https://shop.example/a.xml',
      'Sitemap: https://shop.example/b.xml',
      'License: https://shop.example/c.xml',
    ])
    expect(lintRobots('Sitemap: http://localhost:8080/a.xml\n', { origin: 'http://localhost:8080' })).toEqual([])
  })

  it.each<[object, string]>([
    [{ dialect: 'bing' }, 'dialect'],
    [{ origin: 'shop.example' }, 'origin'],
    [{ dialects: 'google' }, 'dialects'],
    [{ policyTokens: 'use' }, 'policyTokens'],
    [{ policyTokens: [{ token: 'a b' }] }, 'policyTokens'],
    [{ policyTokens: [null] }, 'policyTokens'],
  ])('rejects the options %j', (options, option) => {
    expect(() => lintRobots('User-agent: *\n', options)).toThrow(expect.objectContaining({ option }))
  })

  it('calls a rule unnecessary only if all verdicts are the same without it', () => {
    let unnecessary = 0
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const roll = seededRandom(seed)
      const robots = randomRobots(roll)
      const lines = robots.split(/\r\n|\r|\n/)
      for (const { code, line } of lintRobots(bytes(robots))) {
        if (!UNNECESSARY.has(code)) continue
        unnecessary++
        // An empty Disallow in its place decides nothing and keeps the groups unchanged.
        const without = parseRobots(bytes(lines.with(line - 1, 'Disallow:').join('\n')))
        const original = parseRobots(bytes(lines.join('\n')))
        for (let i = 0; i < 5; i++) {
          const path = randomPath(roll, robots)
          for (const agent of ['ExampleBot', 'Other', 'Unnamed']) {
            const verdict = original.isAllowed(path, agent)
            expect(without.isAllowed(path, agent), `${code} in line ${line} of ${robots}, URL ${path}`).toBe(verdict)
          }
        }
      }
    }
    expect(unnecessary).toBeGreaterThan(sampled(500))
  })

  it('suggests another spelling only if it matches the same URLs', () => {
    let suggestions = 0
    for (let seed = 1; seed <= sampled(5_000); seed++) {
      const roll = seededRandom(seed)
      const file = `User-agent: *\nDisallow: ${randomPath(roll, '')}\n`.replace('Disallow: /', () =>
        roll() < 0.3 ? 'Disallow: ' : 'Disallow: /',
      )
      for (const { code, message, write } of lintRobots(bytes(file))) {
        if (!SAME_MEANING.has(code) || write === undefined) continue
        suggestions++
        const better = Array.from(message.matchAll(/"(Disallow: [^"]*)"/g), ([, rule]) => rule).join('\n')
        const path = randomPath(roll, file)
        const allowed = [bytes(file), `User-agent: *\n${better}\n`].map((one) => parseRobots(one).isAllowed(path, 'a'))
        expect(allowed[1], `${file} and ${better}, URL ${path}`).toBe(allowed[0])
      }
    }
    expect(suggestions).toBeGreaterThan(sampled(500))
  })

  it('shortens quoted text and escapes characters that are unsafe in a terminal', () => {
    const found = lintRobots(`User-agent: *\nDisallow /\u009b31m\ue000${'a'.repeat(1000)}\n`)
    expect(found.find(({ code }) => code === 'missing-colon')?.message).toMatch(
      /"Disallow: \/\\u\{9b\}31m\\u\{e000\}a{60,90}…"/,
    )
  })

  it('takes time linear in the size of the file, also for hostile files', () => {
    const hostile = [
      (size: number) => 'User-agent: a\n'.repeat(size / 28) + 'Crawl-delay: 1\n'.repeat(size / 30),
      (size: number) => Array.from({ length: size / 20 }, (_, i) => `User-agent: a${i}\nDisallow: /\n`).join(''),
      (size: number) =>
        `User-agent: *\n${Array.from({ length: size / 20 }, (_, i) => `Disallow: /a/${i}*\n`).join('')}`,
      (size: number) => `User-agent: *\nDisallow: /${'*a'.repeat(size / 2)}\n`,
      (size: number) => `User-agent: *\n${`Disallow: /${'a/'.repeat(4000)}\n`.repeat(size / 8000)}`,
      (size: number) =>
        `User-agent: *\n${Array.from({ length: size / 100 }, (_, i) => `Disallow: /a${i}*b\n`).join('')}${Array.from({ length: size / 40 }, (_, i) => `User-agent: a${i}\nDisallow: /*${i}*b*c\n`).join('')}`,
      (size: number) => `Disallow: \u200b${' '.repeat(size)}x`,
      (size: number) => `Disallow: /${'\\n '.repeat(size / 3)}`,
      (size: number) => `Disallow: /${'(a|'.repeat(size / 3)}`,
      (size: number) => `Disallow: /${'<br '.repeat(size / 4)}`,
      (size: number) => `Disallow\uff1a${'\u0430'.repeat(size / 2)}`,
      (size: number) => 'disalxow : \n'.repeat(size / 12),
      (size: number) => `\n${' \t'.repeat(size / 2)}x`,
      (size: number) => `<!--${'<'.repeat(size)}`,
      (size: number) => `Content-Usage: a${' '.repeat(16_000)};b\n`.repeat(size / 16_000),
      (size: number) => `Content-Usage: ${'/'.repeat(16_000)}\n`.repeat(size / 16_000),
      (size: number) => `Content-Usage: a${'/'.repeat(16_000)}\n`.repeat(size / 16_000),
      (size: number) => `Content-Usage: a${'='.repeat(16_000)}\n`.repeat(size / 16_000),
      (size: number) => `Content-Usage: a=(${'a ;a="'.repeat(2_500)}\n`.repeat(size / 16_000),
      (size: number) => `Content-Signal: ${'a=b,'.repeat(4_000)}${'='.repeat(500)} x\n`.repeat(size / 16_000),
      (size: number) => `Content-Usage: ${'train-ai=n  '.repeat(1_300)};\n`.repeat(size / 16_000),
      (size: number) =>
        `${'User-agent: a\n'.repeat(size / 30)}${'License: https://a.b/\nContent-Usage: x\n'.repeat(size / 80)}`,
    ]
    // Each takes well under a second in the full run. Quadratic time would be minutes and exceed
    // the timeout.
    for (const make of hostile) expect(lintRobots(bytes(make(sampled(500_000))))).toBeInstanceOf(Array)
  })

  it('has the current tables in docs/reference/lint-findings.md', { tags: 'page' }, async () => {
    const tables = (['error', 'warning', 'note'] as const).map((severity) => ({
      head: [severity, 'message'],
      rows: codes
        .filter((code) => findingKinds[code].severity === severity)
        .map((code) => [`\`${code}\``, findingKinds[code].message.replace(/\{\w*\}/g, '…')]),
    }))
    await expectTables('docs/reference/lint-findings.md', ...tables)
  })

  it('README.md says how many kinds of findings there are', { tags: 'page' }, async () => {
    const readme = readPage('README.md')
    expect(readme).toMatch(NUMBER_OF_KINDS)
    await expectPage('README.md', readme.replace(NUMBER_OF_KINDS, `finds ${codes.length} kinds of mistakes`))
  })
})

function lintLine(line: string) {
  return lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`)
}

/** Random values of a preference, of these parts. None is empty or begins with a path. */
function* randomPreferences(parts: readonly string[], count: number): Generator<string> {
  for (let seed = 1; seed <= count; seed++) {
    const roll = seededRandom(seed)
    const some = Array.from({ length: 1 + Math.floor(roll() * 9) }, () => parts[Math.floor(roll() * parts.length)])
    const value = some.join('').replace(/^[\t ]+|[\t ]+$/g, '')
    if (value !== '' && !/^[^,;=]*\*[^,;=]*[\t ]/.test(value)) yield value
  }
}

const DICTIONARY_PARTS = [
  ...'train-ai search Ab *x_.-1 = = , ; y n ( ) "a, b" "\\"" " ? ?1 -1.5 1.2345 @1 :aGk=: %"%c3%a9" \t'.split(' '),
  ...[' ', '  ', '=n, '],
]

const PREFERENCE_PARTS = [
  ...['train-ai=n', 'Search=y', 'ai-train = no', 'ai-use="y"', 'genai=n', 'ai-input=Yes', 'use=full', 'foo=a', 'tdm'],
  ...[', ', ', ', ',', ' ', ';', '=', 'A'],
]

function isDictionary(value: string): boolean {
  try {
    parseDictionary(value)
    return true
  } catch {
    return false
  }
}

const NUMBER_OF_KINDS = /finds \d+ kinds of mistakes/

const UNNECESSARY: ReadonlySet<FindingCode> = new Set([
  'allow-without-disallow',
  'dot-segments',
  'duplicate-rule',
  'empty-allow',
  'empty-disallow-beside-rules',
  'path-without-slash',
  'redundant-rule',
  'shadowed-rule',
])

const SAME_MEANING: ReadonlySet<FindingCode> = new Set([
  'double-star',
  'encoded-unreserved',
  'path-begins-with-star',
  'raw-character-in-path',
  'raw-non-ascii',
  'raw-space-in-path',
  'trailing-star',
])

const ONE_SENTENCE = /^[A-Z](?:(?!\. ).)*[^.]\.$/s

/** Removes quoted text, which comes from the file. */
function withoutQuotes(message: string): string {
  return message.replace(/"[^"]*"/g, '""')
}
