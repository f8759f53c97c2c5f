// What the command and the site use of core. Not public: it may change in any version.

export { AccessLog, COMMENT, isOfAccessLog } from './access-log.ts'
export { ChangeCounter, type CrawlerChange, type LineChange } from './changes.ts'
export { type FieldsOfFile, fieldsOf } from './fields.ts'
export { applyFixes, type Fix, type FixedFile, fixesOf, fixRobots, quickFixes } from './fix.ts'
export { type IgnoredFindings, ignoredFindings } from './ignored-findings.ts'
export { describeDeviations, differences, lossOf } from './losses.ts'
export { printablePattern } from './printable-pattern.ts'
export { crawlersIn, samplePaths, sampleUrl } from './sample-paths.ts'
