import type { Robot as R, RobotsParser } from './dist/index.js' with { 'resolution-mode': 'import' }
declare const robotsParser: RobotsParser
declare namespace robotsParser { export type Robot = R }
export = robotsParser
