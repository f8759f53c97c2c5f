// Takes the place of Pagefind's module in the built site, which is engine.js beside it. Pagefind demands that
// a page has every word of the query. Questions have words that no answer has, so this module leaves out
// common words, and adds the scores of the others. The name of an option or an error code leads to the
// section that explains it.

import * as engine from './engine.js'

export { createInstance, destroy, filters, mergeIndex } from './engine.js'

const WORDS_OF_LANGUAGE =
  'a about all an and any are as at be been but by can cannot cant do does doesnt doing dont for from get gets give got has have how i if im in into is isnt it its me mine my no not of on one only or should shouldnt so some support supported supporting that the their them then there these they this to up use using versus vs want was way we what when where which who why will with without wont would you your'
/** Nearly all pages are about these. */
const WORDS_OF_SUBJECT = 'crawler crawlers crawling politely robots robots.txt scraper scraping site sites website'

const COMMON = new Set(`${WORDS_OF_LANGUAGE} ${WORDS_OF_SUBJECT}`.split(' '))

/** `words` and `names` are the index words of a page, src/search/index-words.ts. */
const RANKING = { pageLength: 0.1, termFrequency: 0.1, metaWeights: { title: 6, words: 6, names: 4 } }

/** The page that explains a name is among the first results. More are not loaded. */
const MAX_LOADED = 12

const basePath = new URL('./', import.meta.url).pathname
let isReady = false
let loadedNames

export async function options(given) {
  isReady = true
  await engine.options({ ...given, basePath, ranking: RANKING })
}

export async function init() {
  if (!isReady) await options({})
  await engine.init()
}

export async function preload(query, given) {
  await init()
  await engine.preload(query, given)
}

export function debouncedSearch(query, given) {
  return search(query, given)
}

export async function search(query, given) {
  await init()
  const words = wordsOf(query)
  const found = words.length < 2 ? await searchOne(words[0] ?? query, given) : await searchAll(words, given)
  return { ...found, results: found.results.map((result) => ({ ...result, data: () => shownData(result) })) }
}

/** Returns the data of a result without the index words, which the list of results would show. */
async function shownData(result) {
  const data = await result.data()
  const { words, names, ...meta } = data.meta
  return { ...data, meta }
}

async function searchAll(words, given) {
  const [all, ...each] = await Promise.all([words.join(' '), ...words].map((part) => engine.search(part, given)))
  const pages = new Map(all.results.map((result) => [result.id, { result, score: 0, found: 0 }]))
  for (const { results } of each) {
    for (const result of results) {
      const page = pages.get(result.id) ?? { result, score: 0, found: 0 }
      page.score += result.score
      page.found += 1
      pages.set(result.id, page)
    }
  }
  const results = [...pages.values()]
    .map(({ result, score, found }) => ({ ...result, score: (score * found) / words.length }))
    .sort((one, other) => other.score - one.score)
  return { ...all, results, unfilteredResultCount: results.length }
}

/** Returns the words of a query without the common ones. A query in quotation marks stays as it is. */
function wordsOf(query) {
  if (typeof query !== 'string' || query.includes('"')) return []
  const spelled = query.replace(/(?<!\S)\$(?!\S)/g, 'dollar').replace(/(?<!\S)\*(?!\S)/g, 'wildcard')
  const words = spelled.split(/[\s,;?!]+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
  const rare = words.filter((word) => !COMMON.has(word.toLowerCase().replace(/['’]/g, '')))
  return rare.length > 0 ? rare : words
}

/** Searches for one word. If it is a name, the first result is the section that explains it. */
async function searchOne(word, given) {
  const found = await engine.search(word, given)
  const section = /[A-Z_]/.test(word) ? (await namedSections())[word.toLowerCase()] : undefined
  if (section === undefined) return found
  const [page, id] = section.split('#')
  for (const result of found.results.slice(0, MAX_LOADED)) {
    const data = await result.data()
    if (!data.url.endsWith(page)) continue
    const first = { ...result, data: async () => startingAt(data, id) }
    return { ...found, results: [first, ...found.results.filter((other) => other !== result)] }
  }
  return found
}

/** Makes a section the address and the title of a result. */
function startingAt(data, id) {
  const url = `${data.url}#${id}`
  const section = data.sub_results.find((one) => one.url === url) ?? { url, excerpt: data.excerpt }
  const anchor = data.anchors.find((one) => one.id === id)
  const title = `${anchor?.title ?? anchor?.text ?? section.title} (${data.meta.title})`
  const others = data.sub_results.filter((one) => one !== section && one.url !== data.url)
  return { ...data, url, meta: { ...data.meta, title }, excerpt: section.excerpt, sub_results: [section, ...others] }
}

/** Loads `waiting/#limiting-the-wait` for `maxwaitms`, and so on. */
function namedSections() {
  loadedNames ??= fetch(`${basePath}names.json`).then((response) => response.json())
  return loadedNames
}
