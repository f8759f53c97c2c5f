// The normal form of one pattern, for people: also of a pattern that matches no URL in question.
import { encodeText, latin1Of } from '../bytes.ts'
import { type NormalForm, normalForms, printableForm, writeNormalForm } from '../url/normal-form.ts'

/** Returns a pattern as rules are compared, like `Match.form`. @param compare Of the dialect. */
export function printablePattern(pattern: string, compare: NormalForm): string {
  const bytes = encodeText(pattern)
  const out = new Uint8Array(3 * bytes.length)
  const end = writeNormalForm(normalForms[compare].rule, bytes, 0, bytes.length, out, 0)
  return printableForm(latin1Of(out.subarray(0, end)))
}
