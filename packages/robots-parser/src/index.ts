// Everything that `@politely/robots-parser` offers, and nothing else.
export type { Robot } from './robot.ts'
// It takes the place of a package that is imported by its default export, so it has one; no other package of ours has.
// biome-ignore lint/style/noDefaultExport: see above
export { type RobotsParser, robotsParser as default } from './robots-parser.ts'
