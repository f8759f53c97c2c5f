// The public API of `@politely/robots-parser`.

export { isPolitelyError, OptionError } from '@politely/core'
export type { Robot } from './robot.ts'
// robots-parser has a default export, so this package has one too. Our other packages have none.
// biome-ignore lint/style/noDefaultExport: see above
export { type RobotsParser, robotsParser as default } from './robots-parser.ts'
