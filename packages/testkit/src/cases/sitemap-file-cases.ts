// Cases of sitemaps about files and servers: gzip, recursion, statuses, robots.txt.
import { gzipSync } from 'node:zlib'
import { AB, index, oneFile, type SitemapCase, two, url, urlset } from './sitemap-case.ts'

const gzipType = 'application/x-gzip'

export const gzipCases: readonly SitemapCase[] = [
  {
    kind: 1,
    name: 'a .gz that is plain XML',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({ '/sitemap.xml.gz': { body: two(origin), type: gzipType } }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  {
    kind: 2,
    name: 'a gz file with a content encoding, packed once',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({
      '/sitemap.xml.gz': { body: gzipSync(two(origin)), type: gzipType, headers: { 'content-encoding': 'gzip' } },
    }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  {
    kind: 2,
    name: 'a gz file with a content encoding, packed twice',
    start: ['/sitemap.xml.gz'],
    site: (origin) => ({
      '/sitemap.xml.gz': { body: gzipSync(gzipSync(two(origin))), headers: { 'content-encoding': 'gzip' } },
    }),
    expected: { pages: AB, files: { '/sitemap.xml.gz': 'complete' } },
  },
  oneFile(
    2,
    'a content encoding, and a body that is plain',
    two,
    { pages: [], file: 'failed (not-gzip)' },
    { reply: { headers: { 'content-encoding': 'gzip' } } },
  ),
  oneFile(2, 'packed twice, without a content encoding', (origin) => gzipSync(gzipSync(two(origin))), { pages: AB }),
  {
    kind: 3,
    name: 'the gz of a list of URLs',
    start: ['/sitemap.txt.gz'],
    site: (origin) => ({
      '/sitemap.txt.gz': { body: gzipSync(`\uFEFF${origin}/a\r\n${origin}/b\n`), type: gzipType },
    }),
    expected: { pages: AB, files: { '/sitemap.txt.gz': 'complete' } },
  },
  oneFile(4, 'zeros after the gzip data', (origin) => Buffer.concat([gzipSync(two(origin)), Buffer.alloc(600)]), {
    pages: AB,
  }),
  oneFile(
    4,
    'text after the gzip data',
    (origin) => Buffer.concat([gzipSync(two(origin)), Buffer.from('<!-- cached -->')]),
    { pages: AB },
  ),
  oneFile(4, 'gzip data that is cut', (origin) => gzipSync(two(origin)).subarray(0, -12), {
    pages: AB,
    file: 'partial (cut-off)',
  }),
  oneFile(5, 'application/octet-stream', two, { pages: AB }, { reply: { type: 'application/octet-stream' } }),
  oneFile(5, 'no content type, gzip', (origin) => gzipSync(two(origin)), { pages: AB }, { reply: { type: '' } }),
  oneFile(5, 'text/html', two, { pages: AB }, { reply: { type: 'text/html; charset=utf-8' } }),
]

export const recursionCases: readonly SitemapCase[] = [
  {
    kind: 6,
    name: 'an index that lists itself and robots.txt',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/sitemap.xml`, `${origin}/robots.txt`, `${origin}/1.xml`) },
      '/robots.txt': { body: `User-agent: *\nDisallow:\nSitemap: ${origin}/sitemap.xml\n`, type: 'text/plain' },
      '/1.xml': { body: two(origin) },
    }),
    expected: {
      pages: AB,
      files: { '/sitemap.xml': 'complete', '/robots.txt': 'failed (not-a-sitemap)', '/1.xml': 'complete' },
      problems: ['duplicate-file'],
    },
  },
  {
    kind: 7,
    name: 'a child that redirects to its parent',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/1.xml`, `${origin}/2.xml`) },
      '/1.xml': { status: 302, headers: { location: `${origin}/sitemap.xml` } },
      '/2.xml': { body: two(origin) },
    }),
    expected: {
      pages: AB,
      files: { '/sitemap.xml': 'complete', '/1.xml': 'failed (duplicate)', '/2.xml': 'complete' },
    },
  },
  {
    kind: 7,
    name: 'redirects in a circle',
    site: () => ({
      '/sitemap.xml': { status: 301, headers: { location: '/1.xml' } },
      '/1.xml': { status: 301, headers: { location: '/sitemap.xml' } },
    }),
    expected: { pages: [], files: { '/sitemap.xml': 'failed (redirects)' } },
  },
  {
    kind: 8,
    name: 'eleven levels of indexes',
    start: ['/0.xml'],
    site: (origin) => {
      const levels = Array.from({ length: 11 }, (_, n) => [`/${n}.xml`, { body: index(`${origin}/${n + 1}.xml`) }])
      return { ...Object.fromEntries(levels), '/11.xml': { body: two(origin) } }
    },
    expected: {
      pages: [],
      files: {
        ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`/${n}.xml`, 'complete'])),
        '/10.xml': 'partial (limit: maxDepth)',
      },
    },
  },
  {
    kind: 9,
    name: 'a bomb of indexes: each lists ten more',
    limits: { maxFiles: 25 },
    start: ['/i.xml'],
    site: (origin) => {
      const names = ['i', ...Array.from({ length: 100 }, (_, n) => `i${n}`)]
      const children = (n: number) => Array.from({ length: 10 }, (_, child) => `${origin}/i${10 * n + child}.xml`)
      return Object.fromEntries(names.map((name, n) => [`/${name}.xml`, { body: index(...children(n)) }]))
    },
    expected: {
      pages: [],
      files: {
        '/i.xml': 'complete',
        '/i0.xml': 'complete',
        ...Object.fromEntries(Array.from({ length: 23 }, (_, n) => [`/i${n + 1}.xml`, 'partial (limit: maxFiles)'])),
      },
    },
  },
  {
    kind: 10,
    name: 'duplicates in an index',
    site: (origin) => ({
      '/sitemap.xml': { body: index(`${origin}/1.xml`, `${origin}/1.xml#top`, `${origin}/1.xml`) },
      '/1.xml': { body: two(origin) },
    }),
    expected: { pages: AB, files: { '/sitemap.xml': 'complete', '/1.xml': 'complete' }, problems: ['duplicate-file'] },
  },
]

const page = '<!DOCTYPE html>\n<html><head><title>Access denied</title></head><body><a href="/a">a</a></body></html>'

export const statusCases: readonly SitemapCase[] = [
  oneFile(
    27,
    'a 503 with an empty urlset',
    () => urlset(''),
    { pages: [], file: 'failed (status)' },
    {
      reply: { status: 503 },
    },
  ),
  oneFile(
    27,
    'a 403 page',
    () => page,
    { pages: [], file: 'failed (status)' },
    {
      reply: { status: 403, type: 'text/html' },
    },
  ),
  oneFile(27, 'a 200 without a body', () => '', { pages: [], file: 'failed (empty)' }),
  {
    kind: 28,
    name: 'broken children beside whole ones',
    site: (origin) => ({
      '/sitemap.xml': { body: index(...['1', '2', '3', '4', '5'].map((n) => `${origin}/${n}.xml`)) },
      '/1.xml': { status: 404, body: page, type: 'text/html' },
      '/2.xml': { body: urlset(url(`${origin}/a`)) },
      '/3.xml': { body: Buffer.from([0x1f, 0x8b, 0x08, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) },
      '/4.xml': { status: 301 },
      '/5.xml': { body: urlset(url(`${origin}/b`)) },
    }),
    expected: {
      pages: AB,
      files: {
        '/sitemap.xml': 'complete',
        '/1.xml': 'failed (status)',
        '/2.xml': 'complete',
        '/3.xml': 'failed (not-gzip)',
        '/4.xml': 'failed (redirects)',
        '/5.xml': 'complete',
      },
    },
  },
  oneFile(
    29,
    'HTML at /sitemap.xml',
    () => page,
    { pages: [], file: 'failed (html-instead)' },
    {
      reply: { type: 'text/html' },
    },
  ),
  oneFile(
    29,
    'XHTML as the content type of a sitemap',
    two,
    { pages: AB },
    { reply: { type: 'application/xhtml+xml' } },
  ),
  oneFile(29, 'a page without an html element', () => '<!doctype html><title>Not found</title>', {
    pages: [],
    file: 'failed (html-instead)',
  }),
  oneFile(29, 'JSON', () => '{"error":"not found"}', { pages: [], file: 'failed (not-a-sitemap)' }),
]

export const robotsCases: readonly SitemapCase[] = [
  {
    kind: 30,
    name: 'relative, several on a line, outside of groups',
    start: 'robots',
    site: (origin) => ({
      '/robots.txt': {
        body: `Sitemap: /1.xml\nUser-agent: *\nDisallow: /private\nSitemap: ${origin}/2.xml ${origin}/3.xml\n\nsitemap:${origin}/1.xml\n`,
        type: 'text/plain',
      },
      '/1.xml': { body: urlset(url(`${origin}/a`)) },
      '/2.xml': { body: urlset(url(`${origin}/b`)) },
      '/3.xml': { body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="${origin}/c"/></entry></feed>` },
    }),
    expected: {
      pages: ['/a', '/b', '/c'],
      files: { '/1.xml': 'complete', '/2.xml': 'complete', '/3.xml': 'complete' },
    },
  },
  {
    kind: 30,
    name: 'the sitemap itself disallowed',
    start: 'robots',
    site: (origin) => ({
      '/robots.txt': {
        body: `User-agent: *\nDisallow: /sitemaps/\nSitemap: ${origin}/sitemaps/1.xml\nSitemap: ${origin}/2.xml\n`,
        type: 'text/plain',
      },
      '/sitemaps/1.xml': { body: urlset(url(`${origin}/hidden`)) },
      '/2.xml': { body: two(origin) },
    }),
    expected: { pages: AB, files: { '/sitemaps/1.xml': 'failed (disallowed)', '/2.xml': 'complete' } },
  },
  {
    kind: 30,
    name: 'no Sitemap line',
    start: 'robots',
    site: () => ({ '/robots.txt': { body: 'User-agent: *\nDisallow:\n', type: 'text/plain' } }),
    expected: { pages: [], files: { '/robots.txt': 'failed (no-sitemaps)' } },
  },
]
