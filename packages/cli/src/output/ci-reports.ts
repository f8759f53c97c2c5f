// Reports for CI: JUnit XML, and workflow commands of GitHub. URLs in them lose their credentials.

/**
 * Characters that XML cannot contain become spaces. Invisible characters become references, because
 * they could reverse the direction of text in a terminal.
 */
export function escapeXml(text: string): string {
  return textWithoutCredentials(text)
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => ENTITIES[character] ?? `&#${character.codePointAt(0)};`)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** The message of a workflow command. */
function escapeData(text: string): string {
  const shown = textWithoutCredentials(text)
  return escapeControls(shown.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A'))
}

/** A property of a workflow command. */
function escapeProperty(text: string): string {
  return escapeData(text).replace(/:/g, '%3A').replace(/,/g, '%2C')
}

/** Returns the workflow command that annotates a line of a file. */
export function annotation(
  level: 'error' | 'warning' | 'notice',
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
  return `::${level} ${list.join(',')}::${escapeData(message)}\n`
}

/** The tests about one file. All texts are escaped. */
export interface JunitSuite {
  readonly name: string
  readonly cases: readonly JunitCase[]
}

/** A test. Without `failure`, it passed. */
interface JunitCase {
  readonly name: string
  readonly file: string
  readonly failure?: { readonly type: string; readonly message: string; readonly text: string } | undefined
  readonly output?: string
}

export function junitReport(suites: readonly JunitSuite[]): string {
  const counts = (cases: readonly JunitCase[]) =>
    `tests="${cases.length}" failures="${cases.filter(({ failure }) => failure).length}" errors="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts(suites.flatMap(({ cases }) => cases))}>`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${name}" ${counts(cases)}>`,
      ...cases.map(junitCase),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function junitCase({ name, file, failure, output }: JunitCase): string {
  const open = `    <testcase name="${name}" classname="${file}"`
  const body = failure
    ? `<failure type="${failure.type}" message="${failure.message}">${failure.text}</failure>`
    : output && `<system-out>${output}</system-out>`
  return body ? `${open}>\n      ${body}\n    </testcase>` : `${open}/>`
}

import { escapeControls, textWithoutCredentials } from '@politely/core/internal'
