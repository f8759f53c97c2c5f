import { parse as parseByList } from 'tldts'
import { describe, expect, it } from 'vitest'
import { parse } from '../src/edge/tldts.ts'

const OPTIONS = { extractHostname: false, validateHostname: false, detectIp: false, allowPrivateDomains: true }

describe('the domain that a worker guesses', () => {
  it.each([
    'example.com',
    'www.example.com',
    'a.b.example.co.uk',
    'co.uk',
    'www.example.com.au',
    'example.de',
    'www.example.de',
    'me.github.io',
    'www.me.github.io',
    'app.me.workers.dev',
    'bucket.s3.amazonaws.com',
    'xn--bcher-kva.example.org',
  ])('is the domain of the Public Suffix List for %s', (name) => {
    const { domain, publicSuffix, isPrivate } = parseByList(name, OPTIONS)
    expect(parse(name, OPTIONS)).toMatchObject({ domain, publicSuffix, isPrivate })
  })

  it('takes a label other than a top-level domain for a private name', () => {
    expect(['com', 'de', 'printer'].map((name) => parse(name, OPTIONS).isIcann)).toEqual([true, true, false])
  })

  it('knows every country, so that a host such as `db` is private', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz']
    const names = letters.flatMap((first) => letters.map((second) => first + second))
    const countries = (parseName: typeof parse) => names.filter((name) => parseName(name, OPTIONS).isIcann)
    expect(countries(parse)).toEqual(
      countries((name, options) => parseByList(name, options) as ReturnType<typeof parse>),
    )
    expect(['', '1', 'a1', '-'].map((name) => parse(name, OPTIONS).isIcann)).toEqual([false, false, false, false])
  })
})
