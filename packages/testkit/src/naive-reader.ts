// A naive implementation of RFC 9309, to compare core with: it parses the file for every check,
// tries every rule, and follows every way in which a pattern can match. It shares no code with
// core, so a misreading of the standard in one of them shows as a difference. Dialect `rfc9309`
// only.

export interface NaiveVerdict {
  readonly allowed: boolean
  /** The line of the deciding rule; 0 if no rule decides. */
  readonly line: number
}

/**
 * The best match so far: the length of the pattern in bytes, and its line. Both are 0 before the
 * first match.
 */
interface BestMatch {
  bytes: number
  line: number
}

const noMatch = (): BestMatch => ({ bytes: 0, line: 0 })

/**
 * Checks a path. @param robots One character for each byte. @param path As a client sends it:
 * ASCII, without fragment.
 */
export function checkNaively(robots: string, productToken: string, path: string): NaiveVerdict {
  if (path === '/robots.txt') return { allowed: true, line: 0 } // §2.2.2
  const target = unitsOf(path, 'target')
  // The best matches in the crawler's own groups, and in the groups of `*`. §2.2.1.
  const own = { exists: false, allow: noMatch(), disallow: noMatch() }
  const everyone = { exists: false, allow: noMatch(), disallow: noMatch() }
  // The current group: whether it names the crawler or `*`, and whether it has a rule.
  let isOwn = false
  let isForEveryone = false
  let hasRule = false

  linesOf(robots).forEach((text, i) => {
    const [key, value] = fieldOf(text)
    if (/^(user-agent|useragent|user agent)/.test(key)) {
      if (hasRule) isOwn = isForEveryone = hasRule = false
      if (/^\*([ \t\v\f]|$)/.test(value)) isForEveryone = everyone.exists = true
      else if (names(value, productToken)) isOwn = own.exists = true
      return
    }
    const directive = /^allow/.test(key)
      ? 'allow'
      : /^(disallow|dissallow|dissalow|disalow|diasllow|disallaw)/.test(key)
        ? 'disallow'
        : undefined
    if (directive === undefined) return
    hasRule = true
    const best = isOwn ? own : isForEveryone ? everyone : undefined
    if (best === undefined || value === '') return
    const rule = unitsOf(value, 'rule')
    const bytes = rule.length
    if (matches(rule, target)) {
      if (bytes > best[directive].bytes) best[directive] = { bytes, line: i + 1 }
      return
    }
    // `Allow: /dir/index.html` also allows `/dir/` (google/robotstxt).
    const folder = /^(.*\/)index\.htm[^/]*$/.exec(rule.join(''))?.[1]
    if (directive === 'allow' && folder !== undefined) {
      const page = [...unitsOf(folder, 'rule'), '$END']
      if (matches(page, target) && page.length > best.allow.bytes) best.allow = { bytes: page.length, line: i + 1 }
    }
  })

  const { allow, disallow } = own.exists ? own : everyone
  if (disallow.bytes > allow.bytes) return { allowed: false, line: disallow.line }
  return { allowed: true, line: allow.line } // §2.2.2: allow wins a tie
}

function linesOf(robots: string): string[] {
  const withoutBom = robots.replace(/^(\xef\xbb\xbf|\xef\xbb|\xef)/, '')
  return withoutBom.split(/\r\n|\r|\n/).map((line) => (line.slice(0, 16_663).split('\0')[0] ?? '').split('#')[0] ?? '')
}

/** Returns the key in lower case, and the value; both empty if the line has no field. */
function fieldOf(line: string): [key: string, value: string] {
  const blanks = /^[ \t\v\f]+|[ \t\v\f]+$/g
  const text = line.replace(blanks, '')
  const found = /^([^:]*):(.*)$/s.exec(text) ?? /^([^ \t]+)[ \t]+([^ \t]+)$/.exec(text)
  const [, key = '', value = ''] = found ?? []
  const name = key.replace(blanks, '').toLowerCase()
  return name === '' ? ['', ''] : [name, value.replace(blanks, '')]
}

/** Returns whether a user-agent value names the crawler. */
function names(value: string, productToken: string): boolean {
  const characters = /\d/.test(productToken) ? /^[\w-]*/ : /^[A-Za-z_-]*/
  return characters.exec(value)?.[0].toLowerCase() === productToken.toLowerCase()
}

/**
 * Returns a path in normal form, as a list of characters. In a rule, `*` is a wildcard and `$END`
 * is a final `$`.
 */
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

/**
 * Returns whether the rule matches. Keeps the set of all offsets of the target where a match of the
 * rule so far can end.
 */
function matches(rule: readonly string[], target: readonly string[]): boolean {
  let offsets = new Set([0])
  for (const unit of rule) {
    if (unit === '$END') return offsets.has(target.length)
    const next = new Set<number>()
    for (const offset of offsets) {
      if (unit === '*') for (let i = offset; i <= target.length; i++) next.add(i)
      else if (target[offset] === unit) next.add(offset + 1)
    }
    offsets = next
  }
  return offsets.size > 0
}
