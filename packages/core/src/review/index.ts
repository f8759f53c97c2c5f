// What the command and the site use of core. Not public: it may change in any version.

export { AccessLog, COMMENT, isOfAccessLog } from './access-log.ts'
export { ChangeCounter, type CrawlerChange, type LineChange } from './changes.ts'
export { type FieldOfLine, fieldOfLine } from './field-of-line.ts'
export { applyFixes, type Fix, type FixedFile, fixesOf, fixRobots, quickFixes } from './fix.ts'
export { type IgnoredFindings, ignoredFindings } from './ignored-findings.ts'
export { describeDeviations, differences, lossOf } from './losses.ts'
export { printablePattern } from './printable-pattern.ts'
export { type RuleLine, ruleLines } from './rule-lines.ts'
export { crawlersIn, samplePaths } from './sample-paths.ts'
