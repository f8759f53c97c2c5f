// Colours of robots.txt in the editor. Each line is read as crawlers read it, so a key that no
// crawler knows looks different.
import { HighlightStyle, StreamLanguage, type StreamParser } from '@codemirror/language'
import { Tag } from '@lezer/highlight'
import { parseRobots } from '@politely/core'
import { fieldsOf } from '@politely/core/review'

const tags = {
  agentKey: Tag.define(),
  ruleKey: Tag.define(),
  otherKey: Tag.define(),
  unknown: Tag.define(),
  agent: Tag.define(),
  path: Tag.define(),
  wildcard: Tag.define(),
  value: Tag.define(),
  comment: Tag.define(),
}

/** Where the parts of a line end and begin, in UTF-16 code units. */
interface LineParts {
  /** Undefined for a line without a field, such as a comment. */
  readonly field: string | undefined
  readonly start: number
  readonly keyEnd: number
  readonly valueStart: number
  /** A comment may follow. */
  readonly end: number
}

interface LineState {
  parts: LineParts
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function partsOf(line: string): LineParts {
  const bytes = encoder.encode(line)
  const [found] = fieldsOf(parseRobots(bytes)).fields
  if (found === undefined) {
    const end = line.includes('#') ? line.indexOf('#') : line.length
    return { field: undefined, start: 0, keyEnd: 0, valueStart: 0, end }
  }
  const at = (offset: number) => decoder.decode(bytes.subarray(0, offset)).length
  const { field, start, keyEnd, valueStart, end } = found
  return { field, start: at(start), keyEnd: at(keyEnd), valueStart: at(valueStart), end: at(end) }
}

const parser: StreamParser<LineState> = {
  name: 'robots.txt',
  startState: () => ({ parts: partsOf('') }),
  tokenTable: tags,
  token(stream, state) {
    if (stream.sol()) state.parts = partsOf(stream.string)
    const { field, start, keyEnd, valueStart, end } = state.parts
    const { pos } = stream
    const until = (to: number, token: string | null) => {
      stream.pos = Math.max(to, pos + 1)
      return token
    }
    if (pos < start) return until(start, null)
    if (pos >= end) return until(stream.string.length, 'comment')
    if (field === undefined) return until(end, 'unknown')
    if (pos < keyEnd) return until(keyEnd, keyToken(field))
    if (pos < valueStart) return until(valueStart, null)
    if (field === 'user-agent') return until(end, 'agent')
    if (field !== 'allow' && field !== 'disallow') return until(end, field === 'unknown' ? 'unknown' : 'value')
    const value = stream.string.slice(pos, end)
    if (value.startsWith('*') || value === '$') return until(pos + 1, 'wildcard')
    const special = value.search(/\*|\$$/)
    return until(special === -1 ? end : pos + special, 'path')
  },
}

function keyToken(field: string): string {
  if (field === 'user-agent') return 'agentKey'
  if (field === 'allow' || field === 'disallow') return 'ruleKey'
  return field === 'unknown' ? 'unknown' : 'otherKey'
}

export const robotsLanguage: StreamLanguage<LineState> = StreamLanguage.define(parser)

/** The colours are variables of the page, which has them in a light and a dark version. */
export const robotsColours: HighlightStyle = HighlightStyle.define([
  { tag: tags.agentKey, color: 'var(--pg-agent)', fontWeight: '600' },
  { tag: tags.ruleKey, color: 'var(--pg-key)' },
  { tag: tags.otherKey, color: 'var(--pg-other)' },
  { tag: tags.unknown, color: 'var(--pg-muted)', textDecoration: 'underline dotted' },
  { tag: tags.agent, color: 'var(--pg-agent)', fontWeight: '600' },
  { tag: tags.path, color: 'var(--pg-text)' },
  { tag: tags.wildcard, color: 'var(--pg-wildcard)', fontWeight: '700' },
  { tag: tags.value, color: 'var(--pg-text)' },
  { tag: tags.comment, color: 'var(--pg-muted)', fontStyle: 'italic' },
])
