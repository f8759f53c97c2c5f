// The names in the user-agent lines of a file, and what is known about each of them.
import type { Robots } from '@politely/core'
import { findCrawler, type KnownCrawler, knownCrawlers } from '@politely/core/crawlers'
import { editDistance } from '@politely/core/internal'
import { fieldsOf } from '@politely/core/review'
import { crawlersOfProduct } from '../../product-names.ts'

/** Why a name does nothing. */
type UselessName = 'misspelt' | 'retired' | 'ignored'

/** A name in the file. */
export interface FileName {
  /** As the file writes it, without a comment. */
  readonly name: string
  /** The lines that have it, counted from 1. */
  readonly lines: readonly number[]
  /**
   * `known`: a crawler that is in use has this name, or reads its group;
   * `misspelt`: no known crawler has this name, and `crawler` has a similar one, or is the crawler of the
   * product of this name;
   * `retired`: the crawler of this name is no longer in use, and `replacedBy` took its place;
   * `ignored`: the operator says that the crawler ignores robots.txt, or may do so;
   * `unknown`: the catalogue has no such name.
   */
  readonly finding: 'known' | 'unknown' | UselessName
  /** The name of the crawler in the catalogue; undefined if the catalogue has no such crawler. */
  readonly crawler: string | undefined
  readonly operator: string | undefined
  /** The year since which the crawler is retired, if it is documented. */
  readonly since: string | undefined
  /** What to write instead: the crawlers of a product, or the successors of a retired crawler. */
  readonly replacedBy: readonly string[]
}

/** Returns the names of a file in the order of their first lines, without `*`. */
export function namesIn(robots: Robots): readonly FileName[] {
  const found = new Map<string, { readonly name: string; readonly lines: number[] }>()
  for (const { field, value: name, line } of fieldsOf(robots).fields) {
    if (field !== 'user-agent' || name === '' || name.startsWith('*')) continue
    const before = found.get(name.toLowerCase())
    if (before === undefined) found.set(name.toLowerCase(), { name, lines: [line] })
    else before.lines.push(line)
  }
  return Array.from(found.values(), ({ name, lines }) => ({ name, lines, ...findingOf(name) }))
}

function findingOf(name: string): Omit<FileName, 'name' | 'lines'> {
  // RFC 9309 compares the part of the line before the first other character.
  const token = /^[A-Za-z0-9_-]*/.exec(name)?.[0] ?? ''
  const crawler = findCrawler(name) ?? findCrawler(token)
  if (crawler !== undefined) {
    const { obeys, operator, retired } = crawler
    const finding = retired !== undefined ? 'retired' : obeys === 'no' ? 'ignored' : 'known'
    return { finding, crawler: crawler.name, operator, since: retired?.since, replacedBy: retired?.replacedBy ?? [] }
  }
  const nothing = { crawler: undefined, operator: undefined, since: undefined, replacedBy: [] }
  if (FALLBACKS.has(token.toLowerCase())) return { ...nothing, finding: 'known' }
  const products = crawlersOfProduct(name)
  const similar = products[0] === undefined ? similarCrawler(name) : findCrawler(products[0])
  if (similar === undefined) return { ...nothing, finding: 'unknown' }
  const { name: meant, operator } = similar
  return { ...nothing, finding: 'misspelt', crawler: meant, operator, replacedBy: products }
}

/** Names of groups that several crawlers read, such as `Yandex`. */
const FALLBACKS: ReadonlySet<string> = new Set(
  knownCrawlers.flatMap(({ fallbacks }) => fallbacks.map((token) => token.toLowerCase())),
)

/** Shorter names are too similar to each other. */
const MIN_LETTERS = 7
/** From this length on, another letter in place of one is a mistake, and not another name. */
const LONG_LETTERS = 9
/** What is compared of a name in the file. It bounds the work. */
const MAX_LETTERS = 40

/**
 * Returns the crawler that the name probably means. The names differ in dashes or in a letter; or
 * the name in the file lacks `bot` or `spider`, as `Google` does. `Snapbot` does not mean
 * `ShapBot`: in a short name, only a missing letter or one too many counts.
 */
function similarCrawler(name: string): KnownCrawler | undefined {
  const given = lettersOf(name.replace(/\/.*/, '').slice(0, MAX_LETTERS))
  if (/\s/.test(given)) return undefined
  return knownCrawlers.find((crawler) => {
    if (crawler.retired !== undefined) return false
    const known = lettersOf(crawler.name)
    if (known === given || known === `${given}bot` || known === `${given}spider`) return true
    if (given.length < MIN_LETTERS || editDistance(given, known) > 1) return false
    return given.length !== known.length || known.length >= LONG_LETTERS
  })
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '')
}
