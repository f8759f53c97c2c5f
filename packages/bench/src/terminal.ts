// Formats results for a terminal of 100 columns.
import { cellText, figureText, isMet, type Sheet, targetText } from './sheet.ts'

const WIDTH = 100

export function sheetText(sheet: Sheet): string {
  const over = sheet.over === 'own' ? '' : ` (${sheet.over} files)`
  const parts = [`${sheet.title}${over}`, '', ...table(sheet)]
  if (sheet.findings.length > 0) parts.push('', ...findings(sheet))
  if (sheet.notes.length > 0)
    parts.push('', ...sheet.notes.map((aside) => (aside.includes('\n') ? aside : wrapped(aside))))
  return `${parts.join('\n')}\n`
}

function table({ columns, rows }: Sheet): string[] {
  const cells = [
    ['', ...columns.map(({ name }) => name)],
    ['', ...columns.map(({ unit }) => unit)],
    ...rows.map(({ name, cells: values }) => [name, ...values.map(cellText)]),
  ]
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length))) ?? []
  const lines = cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  )
  lines.splice(2, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return lines.map((line) => `  ${line}`.trimEnd())
}

function findings(sheet: Sheet): string[] {
  const lines = sheet.findings.map(({ what, value, unit, target }) => [
    what,
    figureText(value, unit),
    target === null ? '' : `target ${targetText(target, unit)}`,
    target === null ? '' : isMet(value, target) ? 'met' : 'MISSED',
  ])
  const widths = [0, 1, 2].map((i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  return lines.map(([what = '', value = '', target = '', met = '']) =>
    `  ${what.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)}  ${target.padEnd(widths[2] ?? 0)}  ${met}`.trimEnd(),
  )
}

function wrapped(text: string): string {
  const lines: string[] = []
  let line = ' '
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line].join('\n')
}
