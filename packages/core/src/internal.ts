// What the command and the site use of core. Not public: it may change in any version.

export { AccessLog, COMMENT, isOfAccessLog } from './review/access-log.ts'
export { ChangeCounter, type CrawlerChange, type LineChange } from './review/changes.ts'
export { type FieldOfLine, fieldOfLine } from './review/field-of-line.ts'
export { applyFixes, type Fix, type FixedFile, fixesOf, fixRobots, quickFixes } from './review/fix.ts'
export { type IgnoredFindings, ignoredFindings } from './review/ignored-findings.ts'
export { describeDeviations, differences, lossOf } from './review/losses.ts'
export { printablePattern } from './review/printable-pattern.ts'
export { type RuleLine, ruleLines } from './review/rule-lines.ts'
export { crawlersIn, samplePaths } from './review/sample-paths.ts'
