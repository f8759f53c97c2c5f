// The normal form of one pattern, for people: also of a pattern that matches no URL in question.
import { encodeText, latin1Of } from '../bytes.ts'
import { type NormalForm, printableForm, ruleForm } from '../url/normal-form.ts'

/** Returns a pattern as rules are compared, like `Match.form`. @param compare Of the dialect. */
export function printablePattern(pattern: string, compare: NormalForm): string {
  return printableForm(ruleForm(latin1Of(encodeText(pattern)), compare))
}
