// Everything that `@politely/robots-parser` offers, and nothing else.
export type { Robot } from './robot.ts'
export { robotsParser as default, robotsParser as 'module.exports',type RobotsParser } from './robots-parser.ts'
