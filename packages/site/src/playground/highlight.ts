// Colours of robots.txt in the editor. Each line is read as crawlers read it, so a key that no
// crawler knows looks different.
import { HighlightStyle, StreamLanguage, type StreamParser } from '@codemirror/language'
import { Tag } from '@lezer/highlight'
import { type FieldOfLine, fieldOfLine } from '@politely/core/internal'

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

interface LineState {
  field: FieldOfLine
}

const parser: StreamParser<LineState> = {
  name: 'robots.txt',
  startState: () => ({ field: fieldOfLine('') }),
  tokenTable: tags,
  token(stream, state) {
    if (stream.sol()) state.field = fieldOfLine(stream.string)
    const { directive, start, keyEnd, valueStart, end } = state.field
    const { pos } = stream
    const until = (to: number, token: string | null) => {
      stream.pos = Math.max(to, pos + 1)
      return token
    }
    if (pos < start) return until(start, null)
    if (pos >= end) return until(stream.string.length, 'comment')
    if (directive === undefined) return until(end, 'unknown')
    if (pos < keyEnd) return until(keyEnd, keyToken(directive))
    if (pos < valueStart) return until(valueStart, null)
    if (directive === 'user-agent') return until(end, 'agent')
    if (directive !== 'allow' && directive !== 'disallow')
      return until(end, directive === 'unknown' ? 'unknown' : 'value')
    const value = stream.string.slice(pos, end)
    if (value.startsWith('*') || value === '$') return until(pos + 1, 'wildcard')
    const special = value.search(/\*|\$$/)
    return until(special === -1 ? end : pos + special, 'path')
  },
}

function keyToken(directive: FieldOfLine['directive']): string {
  if (directive === 'user-agent') return 'agentKey'
  if (directive === 'allow' || directive === 'disallow') return 'ruleKey'
  return directive === 'unknown' ? 'unknown' : 'otherKey'
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
