// The types of required.cjs.
import type { Robot as RobotOfModule, RobotsParser } from './dist/index.js' with { 'resolution-mode': 'import' }

declare const robotsParser: RobotsParser
declare namespace robotsParser {
  export type Robot = RobotOfModule
}
export = robotsParser
