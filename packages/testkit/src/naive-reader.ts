// RFC 9309 the slow and obvious way: one pass over the lines for every question, every rule tried, every position kept. It
// shares no code with core, so that where both agree, both have read the standard alike. Dialect `rfc9309` only.

/** The answer, and the line of the deciding rule; 0 where no rule decided. */
export interface NaiveAnswer {
  readonly allowed: boolean
  readonly line: number
}

interface Best {
  bytes: number
  line: number
}

const nothing = (): Best => ({ bytes: 0, line: 0 })

/** @param robots One character for each byte. @param path As a client sends it: ASCII, no fragment. */
export function readNaively(robots: string, productToken: string, path: string): NaiveAnswer {
  if (path === '/robots.txt') return { allowed: true, line: 0 } // §2.2.2
  const target = unitsOf(path, 'target')
  // The best match of each kind, for the crawler's own groups and for those of everyone. §2.2.1.
  const own = { seen: false, allow: nothing(), disallow: nothing() }
  const everyone = { seen: false, allow: nothing(), disallow: nothing() }
  let forOwn = false
  let forEveryone = false
  let ruleSeen = false

  linesOf(robots).forEach((text, i) => {
    const [key, value] = fieldOf(text)
    if (/^(user-agent|useragent|user agent)/.test(key)) {
      if (ruleSeen) forOwn = forEveryone = ruleSeen = false
      if (/^\*([ \t\v\f]|$)/.test(value)) forEveryone = everyone.seen = true
      else if (names(value, productToken)) forOwn = own.seen = true
      return
    }
    const directive = /^allow/.test(key)
      ? 'allow'
      : /^(disallow|dissallow|dissalow|disalow|diasllow|disallaw)/.test(key)
        ? 'disallow'
        : undefined
    if (directive === undefined) return
    ruleSeen = true
    const best = forOwn ? own : forEveryone ? everyone : undefined
    if (best === undefined || value === '') return
    const rule = unitsOf(value, 'rule')
    const bytes = rule.length
    if (matches(rule, target)) {
      if (bytes > best[directive].bytes) best[directive] = { bytes, line: i + 1 }
      return
    }
    // Allow: /dir/index.html also allows /dir/ (Google).
    const folder = /^(.*\/)index\.htm[^/]*$/.exec(rule.join(''))?.[1]
    if (directive === 'allow' && folder !== undefined) {
      const page = [...unitsOf(folder, 'rule'), '$END']
      if (matches(page, target) && page.length > best.allow.bytes) best.allow = { bytes: page.length, line: i + 1 }
    }
  })

  const { allow, disallow } = own.seen ? own : everyone
  if (disallow.bytes > allow.bytes) return { allowed: false, line: disallow.line }
  return { allowed: true, line: allow.line } // §2.2.2: allow on a tie
}

function linesOf(robots: string): string[] {
  const withoutBom = robots.replace(/^(\xef\xbb\xbf|\xef\xbb|\xef)/, '')
  return withoutBom.split(/\r\n|\r|\n/).map((line) => (line.slice(0, 16_663).split('\0')[0] ?? '').split('#')[0] ?? '')
}

/** Key in lower case, and value; both empty where the line is no field. */
function fieldOf(line: string): [key: string, value: string] {
  const blanks = /^[ \t\v\f]+|[ \t\v\f]+$/g
  const text = line.replace(blanks, '')
  const found = /^([^:]*):(.*)$/s.exec(text) ?? /^([^ \t]+)[ \t]+([^ \t]+)$/.exec(text)
  const [, key = '', value = ''] = found ?? []
  const name = key.replace(blanks, '').toLowerCase()
  return name === '' ? ['', ''] : [name, value.replace(blanks, '')]
}

function names(value: string, productToken: string): boolean {
  const characters = /\d/.test(productToken) ? /^[\w-]*/ : /^[A-Za-z_-]*/
  return characters.exec(value)?.[0].toLowerCase() === productToken.toLowerCase()
}

/** A path as the characters that are compared, encoded or not; `*` and `$END` are special, in a rule only. */
function unitsOf(path: string, role: 'rule' | 'target'): string[] {
  const found = path.match(/%[0-9A-Fa-f]{2}|[\s\S]/g) ?? []
  return found.flatMap((unit, i) => {
    if (role === 'rule' && unit === '*') return '*'
    if (role === 'rule' && unit === '$' && i === found.length - 1) return '$END'
    const byte = unit.length === 3 ? Number.parseInt(unit.slice(1), 16) : unit.charCodeAt(0)
    const character = String.fromCharCode(byte)
    if (/[A-Za-z0-9._~-]/.test(character)) return character
    const encoded = unit.length === 3 || byte < 0x21 || byte > 0x7e || '"<>\\^`{|}\'*$'.includes(character)
    return encoded ? [...`%${byte.toString(16).toUpperCase().padStart(2, '0')}`] : character
  })
}

/** Keeps every place of the target that the rule so far can have reached. */
function matches(rule: readonly string[], target: readonly string[]): boolean {
  let places = new Set([0])
  for (const unit of rule) {
    if (unit === '$END') return places.has(target.length)
    const next = new Set<number>()
    for (const place of places) {
      if (unit === '*') for (let i = place; i <= target.length; i++) next.add(i)
      else if (target[place] === unit) next.add(place + 1)
    }
    places = next
  }
  return places.size > 0
}
